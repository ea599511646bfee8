package org.optldp.internal;

/** The field of a power of a prime, of at most 256 elements: what local hashing hashes by, and where points lie. */
public final class Field {
    public final int size;
    private final int prime;
    private final int[] tail; // the coefficients below the highest of its polynomial

    public Field(int prime, int... tail) {
        this.prime = prime;
        this.tail = tail;
        this.size = (int) power(prime, tail.length);
    }

    public static long power(long base, int exponent) {
        long made = 1;
        for (int i = 0; i < exponent; i++) made *= base;
        return made;
    }

    /** The hash of a category's number, of so many digits, under a seed: docs/bundle-format.md has the table of seeds. */
    public int hashed(long seed, int code, int digits) {
        int[] parts = new int[digits];
        for (int i = 0; i < digits; i++, code /= size) parts[i] = code % size;
        return whole(inner(point(seed, digits), parts));
    }

    /** How many vectors of so many entries have a one as the first that is not zero. */
    public long points(int length) {
        return (power(size, length) - 1) / (size - 1);
    }

    /** The vector of a point's number: zeros, its one, and entries that are free. */
    public int[] point(long number, int length) {
        int free = 0;
        while (free + 1 < length && number >= power(size, free)) number -= power(size, free++);
        int[] made = new int[length];
        made[length - 1 - free] = 1;
        for (int place = 0; place < free; place++) made[length - 1 - place] = (int) (number / power(size, place) % size);
        return made;
    }

    /** The number of the point on the line of a vector, which is not zero. */
    public long number(int[] vector) {
        int first = 0;
        while (vector[first] == 0) first++;
        int inverse = 1;
        while (product(vector[first], inverse) != 1) inverse++;
        long free = 0;
        for (int i = first + 1; i < vector.length; i++) free = free * size + product(inverse, vector[i]);
        return points(vector.length - 1 - first) + free;
    }

    /** What an inner product lacks to be zero, or to be one. */
    public int lacking(int[] a, int[] b, int due) {
        int[] parts = inner(a, b);
        for (int i = 0; i < parts.length; i++) parts[i] = (prime - parts[i]) % prime;
        parts[0] = (parts[0] + due) % prime;
        return whole(parts);
    }

    private int[] inner(int[] a, int[] b) {
        int[] total = new int[tail.length];
        for (int i = 0; i < a.length; i++) addProduct(total, a[i], b[i]);
        return total;
    }

    private int product(int a, int b) {
        return whole(inner(new int[] {a}, new int[] {b}));
    }

    private int whole(int[] parts) {
        int made = 0;
        for (int i = parts.length - 1; i >= 0; i--) made = made * prime + parts[i];
        return made;
    }

    private void addProduct(int[] total, int a, int b) {
        int many = tail.length;
        int[] power = new int[many];
        for (int i = 0; i < many; i++, a /= prime) power[i] = a % prime;
        for (int digit = 0; digit < many; digit++, b /= prime) {
            for (int i = 0; i < many; i++) total[i] = (total[i] + b % prime * power[i]) % prime;
            int top = power[many - 1]; // what leaves at the top comes back as the polynomial has it
            for (int i = many - 1; i >= 0; i--) {
                power[i] = ((i > 0 ? power[i - 1] : 0) + (prime - top) * tail[i]) % prime;
            }
        }
    }
}
