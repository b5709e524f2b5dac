import type { HiddenText } from '@behalf/kernel';
import { ExchangeFault } from '../exchangeFault.ts';
import type { UseRefreshToken } from '../subject.ts';
import { parseJsonObject, type ProviderResponse } from './providerRequest.ts';
import { postGrant, type PostGrantParts } from './postGrant.ts';

type Field = readonly [name: string, value: string];

/** What is no token is not kept in the place of one. */
const MAX_TOKEN_LENGTH = 32 * 1_024;

/**
 * One form with a refresh token of the user's, while it is nobody else's to send. Some providers put another in its place: that one is stored
 * before anything else is done with the answer.
 */
export async function postWithRefreshToken(
  parts: PostGrantParts,
  withRefreshToken: UseRefreshToken,
  buildFields: (token: HiddenText) => readonly Field[],
  signal: AbortSignal,
): Promise<ProviderResponse> {
  const { settings, endpoint, credential } = parts;
  // Beforehand: from here to the sending nothing is waited for.
  const [tokenEndpoint] = await Promise.all([endpoint.current(), credential.read()]);
  const use = await withRefreshToken(signal, async (borrowed) => {
    // It is good for one client at one place (RFC 6749, section 10.4), and nobody else is shown it.
    if (borrowed.endpoint !== tokenEndpoint.url || borrowed.clientId !== settings.clientId) {
      // The provider has moved since this sign-in. That is its user's to mend; told to the operator, it would stop everybody.
      if (settings.tokenEndpoint === undefined && borrowed.clientId === settings.clientId) {
        throw new ExchangeFault('OBO_REJECTED', { hint: 'The sign-in used a different token endpoint.' });
      }
      const hint = `identityProviders.${settings.name}: a refresh token is only sent to the token endpoint and by the client of its sign-in`;
      throw new ExchangeFault('OBO_MISCONFIGURED', { hint });
    }
    const response = await postGrant(parts, () => buildFields(borrowed.reveal()), signal);
    return { value: response, rotatedToken: readSuccessor(response), isInDoubt: response.status >= 500 };
  });
  switch (use.kind) {
    case 'used':
      return use.value;
    case 'unavailable':
      throw new ExchangeFault('OBO_TEMPORARY', { retryAfterMs: use.retryAfterMs });
    case 'absent':
    case 'expired':
      throw new ExchangeFault('OBO_REJECTED', {
        hint: 'The refresh token of the sign-in is no longer valid.',
      });
  }
}

/** Whatever else the answer holds: the one before it may be over. */
function readSuccessor({ status, text }: ProviderResponse): string | undefined {
  const token = status >= 200 && status <= 299 ? parseJsonObject(text)?.['refresh_token'] : undefined;
  const isToken = typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN_LENGTH;
  return isToken ? token : undefined;
}
