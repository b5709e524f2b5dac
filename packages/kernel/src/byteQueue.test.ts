import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ByteQueue } from './collections.ts';

function drain(queue: ByteQueue): Buffer[] {
  const pieces: Buffer[] = [];
  for (let piece = queue.shift(); piece; piece = queue.shift()) pieces.push(piece);
  return pieces;
}

describe('bytes that wait for their reader', () => {
  test('come out as they went in, however they are cut and taken', () => {
    const size = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 16_000, max: 70_000 }));
    const step = fc.oneof({ weight: 5, arbitrary: size }, fc.constant('shift' as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), fc.boolean(), (steps, whole) => {
        const queue = new ByteQueue();
        const written: Buffer[] = [];
        const consumed: Buffer[] = [];
        let next = 0;
        for (const each of steps) {
          if (each === 'shift') {
            const piece = queue.shift();
            if (piece) consumed.push(piece);
            continue;
          }
          const chunk = Buffer.alloc(each, (next = (next + 1) % 251));
          written.push(Buffer.from(chunk));
          queue.push(chunk);
        }
        const left = Buffer.concat(written).length - Buffer.concat(consumed).length;
        expect(queue.length).toBe(left);
        if (whole) consumed.push(queue.drain());
        else consumed.push(...drain(queue));
        expect(queue.length).toBe(0);
        expect(queue.shift()).toBeUndefined();
        expect(Buffer.concat(consumed).equals(Buffer.concat(written))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  test('a hundred thousand single bytes are a few dozen pieces', () => {
    const queue = new ByteQueue();
    for (let i = 0; i < 100_000; i += 1) queue.push(Buffer.from([i % 256]));
    expect(drain(queue).length).toBeLessThan(50);
  });

  test('what is copied together fills whole blocks, also between large ones', () => {
    const queue = new ByteQueue();
    for (let i = 0; i < 200; i += 1) {
      queue.push(Buffer.from([i]));
      queue.push(Buffer.alloc(16_384));
    }
    const small = drain(queue).filter(({ length }) => length === 1);
    expect(small).toHaveLength(200);
    // The first few were kept as they came; the others share one block.
    expect(new Set(small.slice(20).map(({ buffer }) => buffer)).size).toBe(1);
  });

  test('a single piece is not copied', () => {
    const queue = new ByteQueue();
    const chunk = Buffer.from('one answer');
    queue.push(chunk);
    expect(queue.drain()).toBe(chunk);
    queue.push(chunk);
    queue.clear();
    expect([queue.length, queue.drain().length]).toEqual([0, 0]);
  });
});
