package org.optldp;

/** The field of a power of a prime, of at most 256 elements: what local hashing hashes by. */
final class Field {
    final int size;
    private final int prime;
    private final int[] tail; // the coefficients below the highest of its polynomial

    Field(int prime, int... tail) {
        this.prime = prime;
        this.tail = tail;
        this.size = (int) power(prime, tail.length);
    }

    static long power(long base, int exponent) {
        long made = 1;
        for (int i = 0; i < exponent; i++) made *= base;
        return made;
    }

    /** The hash of a category's number, of so many digits, under a seed: docs/bundle-format.md has the table of seeds. */
    int hashed(long seed, int code, int digits) {
        int free = 0;
        long start = 0; // seeds before those with so many free coefficients behind their one
        while (free + 1 < digits && start + power(size, free) <= seed) start += power(size, free++);
        int[] total = new int[tail.length];
        for (int i = 0; i < digits; i++) {
            int place = digits - 1 - i;
            long factor = place > free ? 0 : place == free ? 1 : (seed - start) / power(size, place) % size;
            addProduct(total, (int) factor, (int) (code / power(size, i) % size));
        }
        int whole = 0;
        for (int i = tail.length - 1; i >= 0; i--) whole = whole * prime + total[i];
        return whole;
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
