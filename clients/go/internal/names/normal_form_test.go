package names

import "testing"

func TestANameHasOneForm(t *testing.T) {
	forms := map[string]string{
		"Zoe\u0308": "Zo\u00eb", "a\u0323\u0302": "\u1ead", "a\u0302\u0323": "\u1ead", "\u1100\u1161\u11a8": "\uac01",
		"\u212b": "\u00c5", "\u0958": "\u0915\u093c", "\u0344": "\u0308\u0301", "e\u0327\u0301": "\u0229\u0301",
		"\u0308": "\u0308", "a\u0345\u0301": "\u00e1\u0345", "ann": "ann", "\u767d": "\u767d",
	}
	for text, form := range forms {
		if got := Normal(text); got != form {
			t.Errorf("%+q must be written %+q, got %+q", text, form, got)
		}
	}
}
