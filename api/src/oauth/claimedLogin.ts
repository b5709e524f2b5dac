import { principalKey, type OpenIdLogin, type PendingClaims, type Principal } from '@behalf/gateway';
import type { Logger } from '../logger.ts';

/** What everybody on the way takes (RFC 9110, section 4.1). Past it the provider may show an error and send nobody back. */
const LONGEST_URL = 8_000;

export type Signing = Pick<Principal, 'tenant' | 'userId'>;
type More = Omit<NonNullable<Parameters<OpenIdLogin['start']>[1]>, 'claims'>;

/** Begins a login at the provider. `whose`: who is signed in here already; null when nobody is. */
export type ClaimedLogin = (
  returnTo: string | undefined,
  whose: () => Promise<Signing | null>,
  more?: More,
) => ReturnType<OpenIdLogin['start']>;

export interface ClaimedLoginParts {
  readonly login: Pick<OpenIdLogin, 'start'>;
  /** What the provider wants proven by users before it exchanges their tokens again. */
  readonly pendingClaims: Pick<PendingClaims, 'find'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** With what the provider wants proven by who is signed in here. The request itself says nothing of it. */
export function createClaimedLogin({ login, pendingClaims, logger }: ClaimedLoginParts): ClaimedLogin {
  async function claimsOf(whose: () => Promise<Signing | null>): Promise<string | undefined> {
    try {
      const user = await whose();
      return user ? await pendingClaims.find(principalKey(user)) : undefined;
    } catch (error) {
      // Without them the provider asks once more. Without a sign-in nobody comes in.
      logger.warn('What the identity provider wants proven could not be read', { error });
      return undefined;
    }
  }

  return async (returnTo, whose, more = {}) => {
    const begun = await login.start(returnTo, { ...more, claims: await claimsOf(whose) });
    return begun.url.length > LONGEST_URL ? login.start(returnTo, more) : begun;
  };
}
