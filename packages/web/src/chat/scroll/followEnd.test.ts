import { describe, expect, test } from '@jest/globals';
import { followsEnd } from './followEnd.ts';

describe('following the end of a conversation', () => {
  const view = 500;

  test('goes on while text is added below', () => {
    expect(followsEnd(true, 500, { top: 500, height: 1_200, view })).toBe(true);
    expect(followsEnd(true, 500, { top: 650, height: 1_200, view })).toBe(true);
  });

  test('ends with the first step up, and begins again at the end', () => {
    expect(followsEnd(true, 500, { top: 480, height: 1_000, view })).toBe(false);
    expect(followsEnd(false, 100, { top: 300, height: 1_000, view })).toBe(false);
    expect(followsEnd(false, 100, { top: 495, height: 1_000, view })).toBe(true);
  });

  test('is not taken for a step up when something above was closed', () => {
    expect(followsEnd(true, 500, { top: 300, height: 800, view })).toBe(true);
  });
});
