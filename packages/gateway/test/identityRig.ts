import { createKeyring, systemRandom, type Keyring } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock, type FakeClock } from '@behalf/testkit';
import {
  createAccounts,
  createSignInSessions,
  createSetup,
  createPasswordSignIn,
  type Accounts,
  type Passwords,
  type SignInSessions,
  type Setup,
  type PasswordSignIn,
} from '../src/index.ts';
import { collectionNames, type PrimaryStore } from '../src/ports/index.ts';

/** Passwords without scrypt's 80 ms, which count how often they would have run it. */
export interface CountedPasswords extends Passwords {
  /** What was derived, in order. */
  readonly derivations: string[];
}

export function createCountedPasswords(): CountedPasswords {
  const derivations: string[] = [];
  // A turn of the loop each, as scrypt gives others the time to overtake.
  const deriveHash = async (kind: string, password: string) => {
    derivations.push(`${kind} ${password}`);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    derivations,
    async hash(password) {
      await deriveHash('hash', password);
      return `fake$${password}`;
    },
    async verify(password, hash) {
      await deriveHash('verify', password);
      return hash === `fake$${password}`;
    },
    simulateVerify: (password) => deriveHash('pretend', password),
  };
}

export interface IdentityRig {
  store: PrimaryStore;
  clock: FakeClock;
  keyring: Keyring;
  passwords: CountedPasswords;
  accounts: Accounts;
  sessions: SignInSessions;
  setup: Setup;
  signIn: PasswordSignIn;
}

/** Identity on a memory store and a fake clock. */
export function createIdentityRig(): IdentityRig {
  const clock = createFakeClock();
  const random = systemRandom;
  const store = openMemoryStore({ clock, random });
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  const passwords = createCountedPasswords();
  const accounts = createAccounts({ ...store, passwords, keyring, clock, random });
  return {
    store,
    clock,
    keyring,
    passwords,
    accounts,
    sessions: createSignInSessions({
      ...{ ...store, clock, random },
      endTokens: (key) => store.credentials.remove(key),
    }),
    setup: createSetup({ tickets: store.tickets, accounts, clock, random }),
    signIn: createPasswordSignIn({ accounts, attempts: store.attempts, clock }),
  };
}

/** Every record of a store as text: what a thief of the database would read. */
export async function dumpStore({ raw }: PrimaryStore): Promise<string> {
  return JSON.stringify(await Promise.all(collectionNames.map((name) => raw.page(name, null, 1_000))));
}

export const adaAccount = { email: 'ada@example.com', name: 'Ada', password: 'correct horse', role: 'USER' };
