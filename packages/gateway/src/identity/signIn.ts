import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { AttemptCounter, UserRecord } from '../ports/index.ts';
import { normaliseEmail, type Accounts } from './accounts.ts';
import { secretHash } from './secretHash.ts';

const WINDOW_MS = 15 * 60 * 1000;
/** Guesses at one account from one address. */
const PER_ACCOUNT_AND_ADDRESS = 10;
/** Guesses at one account from all addresses: far above what a person needs, far below what guessing needs. A lower
 * one would let anybody lock an administrator out from anywhere. */
const PER_ACCOUNT = 200;
/** Attempts from one address, at whichever account. */
const PER_ADDRESS = 50;

export type SignIn = (attempt: { email: string; password: string; address: string }) => Promise<UserRecord>;

/**
 * Every attempt is counted before the password is looked at, so a burst of parallel guesses gains nothing. A success
 * clears the count of this account from this address, and no other.
 */
export function createSignIn(parts: { accounts: Accounts; attempts: AttemptCounter; clock: Clock }): SignIn {
  const { accounts, attempts, clock } = parts;

  async function withinLimit(key: string, limit: number): Promise<void> {
    const { count, resetAt } = await attempts.hit(key, WINDOW_MS);
    if (count > limit)
      throw new GatewayError('RATE_LIMITED', { retryAfterMs: Math.max(1_000, resetAt - clock.now()) });
  }

  return async ({ email, password, address }) => {
    // Hashed: the counter needs no list of who tries to sign in.
    const account = `sign-in:account:${secretHash(normaliseEmail(email))}`;
    const network = networkOf(address);
    const pair = `${account}:${network}`;
    await withinLimit(`sign-in:address:${network}`, PER_ADDRESS);
    await withinLimit(pair, PER_ACCOUNT_AND_ADDRESS);
    await withinLimit(account, PER_ACCOUNT);
    const user = await accounts.authenticate(email, password);
    if (!user) throw new GatewayError('AUTH_FAILED');
    await attempts.clear(pair);
    return user;
  };
}

/** Whoever has one IPv6 address usually has the 2^64 of its network: they count as one. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = '', tail] = address.toLowerCase().replace(/%.*$/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
