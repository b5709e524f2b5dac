import { describe, expect, test } from '@jest/globals';
import { createRandom, systemRandom } from './random.ts';

describe('random', () => {
  test('an id carries 128 bits, fits a URL and does not repeat', () => {
    const ids = Array.from({ length: 1_000 }, () => systemRandom.id());
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(new Set(ids).size).toBe(1_000);
    let requestCount = 0;
    createRandom((length) => new Uint8Array((requestCount = length))).id();
    expect(requestCount).toBe(16);
  });

  test('a uniform number is at least 0 and below 1', () => {
    const of = (byte: number) => createRandom((length) => new Uint8Array(length).fill(byte)).uniform();
    expect(of(0)).toBe(0);
    expect(of(255)).toBeLessThan(1);
    expect(of(255)).toBeGreaterThan(0.999);
    expect(of(128)).toBeCloseTo(0.5, 2);
  });

  test('bytes are as many as asked for', () => {
    for (const length of [1, 12, 32, 100]) expect(systemRandom.bytes(length)).toHaveLength(length);
  });
});
