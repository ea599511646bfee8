package optldp

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"sort"
)

// identified refuses a document whose checksum is another than it states; it returns the name of the file beside reports.
func identified(document map[string]any) string {
	stated := document["checksum"]
	sum := sha256.New()
	add(sum, unsigned(document))
	digest := hex.EncodeToString(sum.Sum(nil))
	need(stated == "sha256:"+digest, "the checksum must fit: the file was altered")
	return "t" + digest[:12]
}

// unsigned is a document without its checksum.
func unsigned(document map[string]any) map[string]any {
	content := make(map[string]any, len(document))
	for key, value := range document {
		if key != "checksum" {
			content[key] = value
		}
	}
	return content
}

// add encodes a value as the checksum is taken of it.
func add(sum hash.Hash, value any) {
	switch value := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		sort.Strings(keys) // by bytes
		tagged(sum, 'o', uint64(len(value)))
		for _, key := range keys {
			add(sum, key)
			add(sum, value[key])
		}
	case []any:
		tagged(sum, 'a', uint64(len(value)))
		for _, each := range value {
			add(sum, each)
		}
	case string:
		tagged(sum, 's', uint64(len(value)))
		sum.Write([]byte(value))
	case number:
		tagged(sum, 'n', math.Float64bits(value.double))
	case bool:
		if value {
			sum.Write([]byte("t"))
		} else {
			sum.Write([]byte("f"))
		}
	default:
		sum.Write([]byte("z"))
	}
}

func tagged(sum hash.Hash, tag byte, bits uint64) {
	var bytes [9]byte
	bytes[0] = tag
	binary.LittleEndian.PutUint64(bytes[1:], bits)
	sum.Write(bytes[:])
}
