import { principalKey, type OpenIdLogin, type PendingClaims, type Principal } from '@behalf/gateway';
import type { Logger } from '../logger.ts';

/** What everybody on the way takes (RFC 9110, section 4.1). Past it the provider may show an error and send nobody back. */
const MAX_URL_LENGTH = 8_000;

export type SignedInUser = Pick<Principal, 'tenant' | 'userId'>;
type LoginOptions = Omit<NonNullable<Parameters<OpenIdLogin['start']>[1]>, 'claims'>;

/** Begins a login at the provider. `whose`: who is signed in here already; null when nobody is. */
export type LoginWithClaims = (
  returnTo: string | undefined,
  readUser: () => Promise<SignedInUser | null>,
  options?: LoginOptions,
) => ReturnType<OpenIdLogin['start']>;

export interface LoginWithClaimsParts {
  readonly login: Pick<OpenIdLogin, 'start'>;
  /** What the provider wants proven by users before it exchanges their tokens again. */
  readonly pendingClaims: Pick<PendingClaims, 'find'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** With what the provider wants proven by who is signed in here. The request itself says nothing of it. */
export function createLoginWithClaims({
  login,
  pendingClaims,
  logger,
}: LoginWithClaimsParts): LoginWithClaims {
  async function readPendingClaims(
    readUser: () => Promise<SignedInUser | null>,
  ): Promise<string | undefined> {
    try {
      const user = await readUser();
      return user ? await pendingClaims.find(principalKey(user)) : undefined;
    } catch (error) {
      // Without them the provider asks once more. Without a sign-in nobody comes in.
      logger.warn('Cannot read the pending claims challenge', { error });
      return undefined;
    }
  }

  return async (returnTo, readUser, options = {}) => {
    const started = await login.start(returnTo, { ...options, claims: await readPendingClaims(readUser) });
    return started.url.length > MAX_URL_LENGTH ? login.start(returnTo, options) : started;
  };
}
