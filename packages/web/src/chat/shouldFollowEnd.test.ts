import { describe, expect, test } from '@jest/globals';
import { shouldFollowEnd } from './useFollowEnd.ts';

describe('following the end of a conversation', () => {
  const viewport = 500;

  test('goes on while text is added below', () => {
    expect(shouldFollowEnd(true, 500, { top: 500, height: 1_200, viewport })).toBe(true);
    expect(shouldFollowEnd(true, 500, { top: 650, height: 1_200, viewport })).toBe(true);
  });

  test('ends with the first step up, and begins again at the end', () => {
    expect(shouldFollowEnd(true, 500, { top: 480, height: 1_000, viewport })).toBe(false);
    expect(shouldFollowEnd(false, 100, { top: 300, height: 1_000, viewport })).toBe(false);
    expect(shouldFollowEnd(false, 100, { top: 495, height: 1_000, viewport })).toBe(true);
  });

  test('is not taken for a step up when something above was closed', () => {
    expect(shouldFollowEnd(true, 500, { top: 300, height: 800, viewport })).toBe(true);
  });
});
