import type { IncomingHttpHeaders } from 'node:http';
import { expect } from '@jest/globals';
import type { AppBearer, Bearer } from '../src/upstream/target.ts';

/** Gives another token each time it is asked, so that one which was kept is seen: `ann1`, `ann2`, ... */
export interface CountingBearer extends Bearer {
  readonly asked: number;
  /** What it rejects with, from now on. */
  failure: unknown;
  /** Whether a token is at hand, or comes a moment later. */
  later: boolean;
}

/** Where no server is called with a token of ours. */
export function noAppBearer(): AppBearer {
  throw new Error('There is no token of ours here');
}

/** For bearers that only ever give. */
export const neverRenewed = {
  renew: () => Promise.resolve(false),
  hasRenewed: () => false,
  presentedTokens: (): readonly string[] => [],
};

export function countingBearer(
  name = 't',
  over: Partial<Pick<CountingBearer, 'later'>> = {},
): CountingBearer {
  let asked = 0;
  const bearer: CountingBearer = {
    get asked() {
      return asked;
    },
    failure: undefined,
    later: over.later ?? false,
    token() {
      asked += 1;
      // Any error must come through as it is.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      if (bearer.failure !== undefined) return Promise.reject(bearer.failure);
      const token = `${name}${asked}`;
      return bearer.later ? Promise.resolve(token) : token;
    },
    ...neverRenewed,
  };
  return bearer;
}

/** Its token comes when the test says so. */
export function heldBearer() {
  const waiting: { resolve(token: string): void; reject(error: unknown): void }[] = [];
  const bearer: Bearer = {
    token: () => new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    ...neverRenewed,
  };
  return { bearer, waiting };
}

/** Every request carried a token, and none one that another request had carried before. */
export function expectFresh(
  requests: readonly { readonly headers: IncomingHttpHeaders }[],
  name = 't',
): void {
  const carried = requests.map(({ headers }) => headers.authorization);
  const pattern = new RegExp(`^Bearer ${name}[0-9]+$`);
  expect(carried.filter((value) => !pattern.test(value ?? ''))).toEqual([]);
  expect(new Set(carried).size).toBe(carried.length);
}
