import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { AttemptCounter, UserRecord } from '../ports/index.ts';
import { normalizeEmail, type Accounts } from './accounts.ts';
import { hashSecret } from './hashSecret.ts';

const WINDOW_MS = 15 * 60 * 1000;
/** Attempts for one account from one network. */
const MAX_PER_ACCOUNT_AND_ADDRESS = 10;
/**
 * Attempts for one account from all networks. A person needs far fewer, an attacker who guesses needs far more. A lower limit
 * would let an attacker lock an administrator out.
 */
const MAX_PER_ACCOUNT = 200;
/** Attempts from one network for all accounts together. */
const MAX_PER_ADDRESS = 50;

export type PasswordSignIn = (attempt: {
  email: string;
  password: string;
  address: string;
}) => Promise<UserRecord>;

/**
 * Rate-limits sign-ins with a password. An attempt is counted before the password is verified, so parallel guesses gain
 * nothing. A success clears only the count of this account from this network.
 */
export function createPasswordSignIn(parts: {
  accounts: Accounts;
  attempts: AttemptCounter;
  clock: Clock;
}): PasswordSignIn {
  const { accounts, attempts, clock } = parts;

  async function requireWithinLimit(key: string, limit: number): Promise<void> {
    const { count, resetAt } = await attempts.hit(key, WINDOW_MS);
    if (count > limit)
      throw new GatewayError('RATE_LIMITED', { retryAfterMs: Math.max(1_000, resetAt - clock.now()) });
  }

  return async ({ email, password, address }) => {
    // Hashed, so that the counters contain no email addresses.
    const account = `sign-in:account:${hashSecret(normalizeEmail(email))}`;
    const network = networkOf(address);
    const accountAtNetwork = `${account}:${network}`;
    await requireWithinLimit(`sign-in:address:${network}`, MAX_PER_ADDRESS);
    await requireWithinLimit(accountAtNetwork, MAX_PER_ACCOUNT_AND_ADDRESS);
    await requireWithinLimit(account, MAX_PER_ACCOUNT);
    const user = await accounts.authenticate(email, password);
    if (!user) throw new GatewayError('AUTH_FAILED');
    await attempts.clear(accountAtNetwork);
    return user;
  };
}

/** The number of leading IPv6 groups that identify the network, and the suffix of the written prefix. */
const NETWORK_PREFIXES = { network: [4, '::/64'], site: [3, '::/48'] } as const;

/**
 * The unit in which addresses are counted. An owner of one IPv6 address usually owns all 2^64 of its /64 network, and often
 * all networks of a /48 site; use `site` to limit how many identities one party can have. Strips the port that some proxies
 * append to the address.
 */
export function networkOf(address: string, width: keyof typeof NETWORK_PREFIXES = 'network'): string {
  const rawAddress = address.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1');
  if (!rawAddress.includes(':')) return rawAddress;
  const groups = parseGroups(rawAddress.toLowerCase().replace(/%.*$/, ''));
  // An IPv4 client at a dual-stack socket (IPv4-mapped address, RFC 4291 section 2.5.5.2).
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 6).join() === '0,0,0,0,0,65535') {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.');
  }
  const [count, suffix] = NETWORK_PREFIXES[width];
  const prefix = groups.slice(0, count).map((group) => group.toString(16));
  return prefix.join(':') + suffix;
}

/** The eight groups of an IPv6 address. */
function parseGroups(address: string): number[] {
  const hex = address.replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(Math.max(0, zeros)).fill('0'), ...right].map((group) =>
    parseInt(group, 16),
  );
}
