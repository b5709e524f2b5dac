import { ApiKeyRequest } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { keyExpiry, MAX_DAYS, parseDays } from './keyExpiry.ts';

const DAY_MS = 86_400_000;

describe('how long a key works', () => {
  test('a key that soon expires is told apart from a good one in time', () => {
    expect([0, 1, 14 * DAY_MS, 14 * DAY_MS + 1].map((at) => keyExpiry(at, 0))).toEqual([
      ...['expired', 'expiring', 'expiring', 'good'],
    ]);
  });

  test('is a number of days that the gateway takes', () => {
    const takes = (days: number) =>
      ApiKeyRequest.safeParse({ name: 'n', scopes: ['mcp'], expiresInDays: days }).success;
    expect(['1', ' 90 ', '365'].map(parseDays)).toEqual([1, 90, 365]);
    expect(['', '0', '366', '1.5', '-1', '1e2', 'x'].map(parseDays)).toEqual(Array(7).fill(undefined));
    expect([takes(MAX_DAYS), takes(MAX_DAYS + 1)]).toEqual([true, false]);
  });
});
