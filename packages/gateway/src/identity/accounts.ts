import { type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { type Clock, type Keyring, type Random, Semaphore, SemaphoreFull } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { type ChangeFeed, type UserRecord, type UserStore, toPasswordSealContext } from '../ports/index.ts';
import { DEFAULT_TENANT } from '../principal/principal.ts';

/** The issuer of accounts with a password in Behalf. */
export const LOCAL_ISSUER = 'local';

interface NewAccount {
  email: string;
  name: string;
  password: string;
  role: string;
}

/** Local accounts with a password, for deployments without an identity provider. */
export interface Accounts {
  create(account: NewAccount): Promise<UserRecord>;
  /** Creates the first user of the deployment; null if a user exists. */
  createFirst(account: NewAccount): Promise<UserRecord | null>;
  /** Null for a wrong password, an unknown email and a disabled account. All take the same time. */
  authenticate(email: string, password: string): Promise<UserRecord | null>;
  hasUsers(): Promise<boolean>;
}

interface AccountParts {
  users: UserStore;
  changes: ChangeFeed;
  passwords: Passwords;
  keyring: Keyring;
  clock: Clock;
  random: Random;
}

export function createAccounts(parts: AccountParts): Accounts {
  const { users, changes, passwords, keyring, clock, random } = parts;

  async function buildRecord({ email, name, password, role }: NewAccount): Promise<UserRecord> {
    const id = random.id();
    const now = clock.now();
    const subject = normalizeEmail(email);
    return {
      id,
      tenant: DEFAULT_TENANT,
      issuer: LOCAL_ISSUER,
      subject,
      email: subject,
      name,
      role,
      roleSource: 'manual',
      roleConfirmedAt: null,
      disabledAt: null,
      signedOutAt: null,
      // Sealed with the row as context: a copy of the database allows no offline guesses, and a hash is valid in its row only.
      passwordSealed: keyring.seal(
        await passwords.hash(password),
        toPasswordSealContext({ id, tenant: DEFAULT_TENANT }),
      ),
      createdAt: now,
      updatedAt: now,
    };
  }

  return {
    async create(account) {
      const user = await buildRecord(account);
      if ((await users.insert(user)) === 'taken') throw new GatewayError('EMAIL_TAKEN');
      await changes.publish({ topic: 'users', id: user.id });
      return user;
    },
    async createFirst(account) {
      const user = await buildRecord(account);
      if ((await users.insertFirst(user)) === 'not_first') return null;
      await changes.publish({ topic: 'users', id: user.id });
      return user;
    },
    async authenticate(email, password) {
      const user = await users.findByIdentity(DEFAULT_TENANT, LOCAL_ISSUER, normalizeEmail(email));
      if (!user?.passwordSealed) {
        await passwords.simulateVerify(password);
        return null;
      }
      const hash = keyring.open(user.passwordSealed, toPasswordSealContext(user));
      const isPasswordValid = await passwords.verify(password, hash);
      // Checked after the password, so that a disabled account takes as long as a wrong password.
      return isPasswordValid && user.disabledAt === null ? user : null;
    },
    hasUsers: async () => (await users.count()) > 0,
  };
}

/** The canonical spelling, so that each mailbox has one account. */
export function normalizeEmail(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase();
}

/** The second scrypt setting of OWASP: 32 MiB, about 80 ms on a small machine. Stored in each hash, so it can be raised. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
/** Limits for the cost in a stored hash. They allow a higher setting, but a planted hash cannot stall the process. */
const MAX_WORK = 8 * COST.N * COST.r * COST.p;
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
/** Hashing shares libuv's four threads with DNS and file access: it uses at most two. The queue of attempts is bounded. */
const MAX_CONCURRENT_HASHES = 2;
const MAX_WAITING_HASHES = 64;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

export interface Passwords {
  hash(password: string): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
  /** Takes as long as `verify`. Used for unknown accounts, so that the response time does not reveal which accounts exist. */
  simulateVerify(password: string): Promise<void>;
}

/** A parameter, so that tests count the calls instead of measuring time. */
type DeriveKey = (password: string, salt: Uint8Array, cost: ScryptOptions) => Promise<Buffer>;

export function createPasswords(random: Random, deriveKey: DeriveKey = scryptKey): Passwords {
  const decoySalt = random.bytes(SALT_BYTES);
  const semaphore = new Semaphore(MAX_CONCURRENT_HASHES, { maxWaiting: MAX_WAITING_HASHES });

  async function derive(...[password, salt, cost]: Parameters<DeriveKey>): Promise<Buffer> {
    try {
      return await semaphore.run(() => deriveKey(password, salt, cost));
    } catch (error) {
      if (!(error instanceof SemaphoreFull)) throw error;
      throw new GatewayError('RATE_LIMITED', { retryAfterMs: 1_000 });
    }
  }

  return {
    async hash(password) {
      const salt = random.bytes(SALT_BYTES);
      const key = await derive(password, salt, COST);
      const { N, r, p } = COST;
      return ['scrypt', N, r, p, encode(salt), encode(key)].join('$');
    },
    async verify(password, hash) {
      const [scheme, N, r, p, salt, key, ...rest] = hash.split('$');
      if (scheme !== 'scrypt' || !N || !r || !p || !salt || !key || rest.length > 0) return false;
      const cost = readCost(N, r, p);
      const expected = Buffer.from(key, 'base64url');
      if (!cost || expected.length !== KEY_BYTES) return false;
      const actual = await derive(password, Buffer.from(salt, 'base64url'), cost);
      return timingSafeEqual(expected, actual);
    },
    async simulateVerify(password) {
      await derive(password, decoySalt, COST);
    },
  };
}

function readCost(...texts: [N: string, r: string, p: string]): typeof COST | null {
  if (!texts.every((text) => /^[1-9]\d{0,9}$/.test(text))) return null;
  const [N, r, p] = texts.map(Number) as [number, number, number];
  // RFC 7914, section 6: N is a power of two greater than one.
  if (N < 2 || !Number.isInteger(Math.log2(N))) return null;
  return 128 * N * r <= MAX_MEMORY_BYTES && N * r * p <= MAX_WORK ? { N, r, p } : null;
}

function scryptKey(password: string, salt: Uint8Array, cost: ScryptOptions): Promise<Buffer> {
  // Keyboards compose accents in different ways, so the password is normalized (RFC 8265, section 4.2.2).
  const text = password.normalize('NFC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, KEY_BYTES, { ...cost, maxmem: 2 * MAX_MEMORY_BYTES }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}
