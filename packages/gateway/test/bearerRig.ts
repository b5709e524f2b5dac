import type { IncomingHttpHeaders } from 'node:http';
import { expect } from '@jest/globals';
import type { AppBearer, Bearer } from '../src/upstream/target.ts';

/** Gives another token each time it is asked, so that one which was kept is seen: `ann1`, `ann2`, ... */
export interface CountingBearer extends Bearer {
  readonly tokenRequests: number;
  /** What it rejects with, from now on. */
  failure: unknown;
  /** Whether a token is at hand, or comes a moment later. */
  isDeferred: boolean;
}

/** Where no server is called with a token of ours. */
export function rejectAppBearer(): AppBearer {
  throw new Error('There is no token of ours here');
}

/** For bearers that only ever give. */
export const withoutRenewal = {
  renew: () => Promise.resolve(false),
  hasRenewed: () => false,
  presentedTokens: (): readonly string[] => [],
};

export function createCountingBearer(
  name = 't',
  overrides: Partial<Pick<CountingBearer, 'isDeferred'>> = {},
): CountingBearer {
  let tokenRequests = 0;
  const bearer: CountingBearer = {
    get tokenRequests() {
      return tokenRequests;
    },
    failure: undefined,
    isDeferred: overrides.isDeferred ?? false,
    token() {
      tokenRequests += 1;
      // Any error must come through as it is.
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      if (bearer.failure !== undefined) return Promise.reject(bearer.failure);
      const token = `${name}${tokenRequests}`;
      return bearer.isDeferred ? Promise.resolve(token) : token;
    },
    ...withoutRenewal,
  };
  return bearer;
}

/** Its token comes when the test says so. */
export function createPendingBearer() {
  const pending: { resolve(token: string): void; reject(error: unknown): void }[] = [];
  const bearer: Bearer = {
    token: () => new Promise((resolve, reject) => pending.push({ resolve, reject })),
    ...withoutRenewal,
  };
  return { bearer, pending };
}

/** Every request carried a token, and none one that another request had carried before. */
export function expectFreshTokens(
  requests: readonly { readonly headers: IncomingHttpHeaders }[],
  name = 't',
): void {
  const presented = requests.map(({ headers }) => headers.authorization);
  const pattern = new RegExp(`^Bearer ${name}[0-9]+$`);
  expect(presented.filter((value) => !pattern.test(value ?? ''))).toEqual([]);
  expect(new Set(presented).size).toBe(presented.length);
}
