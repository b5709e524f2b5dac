import { type Clock, type Keyring, type Random, SealError } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { type SystemStore, type TicketStore, type UserRecord, keyCheckContext } from '../ports/index.ts';
import type { Accounts } from './accounts.ts';
import { generateSecret, hashSecret } from './hashSecret.ts';

export const SETUP_LIFETIME_MS = 15 * 60 * 1000;

/** Creates the first administrator of a deployment without an identity provider, through a link that Behalf prints once. */
export interface Setup {
  /** The secret of a new link; null if a user exists. */
  issueLink(): Promise<string | null>;
  /** Whether the link can still be used. */
  isLinkOpen(secret: string): Promise<boolean>;
  complete(secret: string, account: { email: string; name: string; password: string }): Promise<UserRecord>;
}

export function createSetup(parts: {
  readonly tickets: TicketStore;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
}): Setup {
  const { tickets, accounts, clock, random } = parts;
  return {
    async issueLink() {
      if (await accounts.hasUsers()) return null;
      const secret = generateSecret(random);
      const now = clock.now();
      // Other replicas may have issued links, too. The first use of a link revokes all of them.
      const expiresAt = now + SETUP_LIFETIME_MS;
      await tickets.issue({ hash: hashSecret(secret), kind: 'setup', createdAt: now, expiresAt });
      return secret;
    },
    isLinkOpen: async (secret) =>
      (await tickets.isConsumable('setup', hashSecret(secret), clock.now())) && !(await accounts.hasUsers()),
    async complete(secret, account) {
      // Consume the ticket before the account is created, so that two requests with one link create one account.
      if (!(await tickets.consume('setup', hashSecret(secret), clock.now()))) {
        throw new GatewayError('SETUP_LINK_INVALID');
      }
      // Fails if another user was created after the link was issued, for example with the create-user script.
      const user = await accounts.createFirst({ ...account, role: 'ADMIN' });
      if (!user) throw new GatewayError('SETUP_LINK_INVALID');
      await tickets.revokeAll('setup');
      return user;
    },
  };
}

const CHECK_VALUE = 'behalf';

/** Whether the keyring of this process opens values of the other replicas. A replica with another key must not start. */
export async function isStoreKeyValid(system: SystemStore, keyring: Keyring): Promise<boolean> {
  const stored = await system.getOrCreateKeyCheck(keyring.seal(CHECK_VALUE, keyCheckContext));
  try {
    return keyring.open(stored, keyCheckContext) === CHECK_VALUE;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}
