import { type Clock, type Keyring, type Random, SealError } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { type SystemStore, type TicketStore, type UserRecord, keyCheckContext } from '../ports/index.ts';
import type { Accounts } from './accounts.ts';
import { hashSecret } from './hashSecret.ts';

export const SETUP_LIFETIME_MS = 15 * 60 * 1000;

/** The first administrator of a deployment without an identity provider, through a link printed once. */
export interface Setup {
  /** A new link's secret, or null when there is a user already. */
  issueLink(): Promise<string | null>;
  /** Whether the form is worth showing. */
  isLinkOpen(secret: string): Promise<boolean>;
  complete(secret: string, account: { email: string; name: string; password: string }): Promise<UserRecord>;
}

interface SetupParts {
  tickets: TicketStore;
  accounts: Accounts;
  clock: Clock;
  random: Random;
}

export function createSetup({ tickets, accounts, clock, random }: SetupParts): Setup {
  return {
    async issueLink() {
      if (await accounts.hasUsers()) return null;
      const secret = Buffer.from(random.bytes(32)).toString('base64url');
      const now = clock.now();
      // Links of other replicas stay open: whichever is used first ends them all.
      await tickets.issue({
        hash: hashSecret(secret),
        kind: 'setup',
        createdAt: now,
        expiresAt: now + SETUP_LIFETIME_MS,
      });
      return secret;
    },
    isLinkOpen: async (secret) =>
      (await tickets.isConsumable('setup', hashSecret(secret), clock.now())) && !(await accounts.hasUsers()),
    async complete(secret, account) {
      // The ticket first: of two requests with one link, one gets as far as an account.
      if (!(await tickets.consume('setup', hashSecret(secret), clock.now()))) {
        throw new GatewayError('SETUP_LINK_INVALID');
      }
      // A link that outlived the first account (made by the script meanwhile) creates nobody.
      const user = await accounts.createFirst({ ...account, role: 'ADMIN' });
      if (!user) throw new GatewayError('SETUP_LINK_INVALID');
      await tickets.revokeAll('setup');
      return user;
    },
  };
}

const CHECK_VALUE = 'behalf';

/** Whether this process can read what the others wrote: a replica with another key must not start. */
export async function isStoreKeyValid(system: SystemStore, keyring: Keyring): Promise<boolean> {
  const stored = await system.getOrCreateKeyCheck(keyring.seal(CHECK_VALUE, keyCheckContext));
  try {
    return keyring.open(stored, keyCheckContext) === CHECK_VALUE;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
