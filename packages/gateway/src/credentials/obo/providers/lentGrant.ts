import type { HiddenText } from '@behalf/kernel';
import { ExchangeFault } from '../exchangeFault.ts';
import type { LendSubject } from '../subject.ts';
import { readObject, type Answer } from './ask.ts';
import { postGrant, type PostParts } from './postGrant.ts';

type Field = readonly [name: string, value: string];

/** What is no token is not kept in the place of one. */
const LONGEST = 32 * 1_024;

/**
 * One form with a refresh token of the user's, while it is nobody else's to send. Some providers put another in its place: that one is stored
 * before anything else is done with the answer.
 */
export async function lentGrant(
  parts: PostParts,
  lend: LendSubject,
  fieldsOf: (token: HiddenText) => readonly Field[],
  signal: AbortSignal,
): Promise<Answer> {
  const { settings, endpoint, credential } = parts;
  // Beforehand: from here to the sending nothing is waited for.
  const [to] = await Promise.all([endpoint.current(), credential.read()]);
  const used = await lend(signal, async (lent) => {
    // It is good for one client at one place (RFC 6749, section 10.4), and nobody else is shown it.
    if (lent.endpoint !== to.url || lent.clientId !== settings.clientId) {
      // The provider has moved since this sign-in. That is its user's to mend; told to the operator, it would stop everybody.
      if (settings.tokenEndpoint === undefined && lent.clientId === settings.clientId) {
        throw new ExchangeFault('OBO_REJECTED', { hint: 'The sign-in is of another token endpoint.' });
      }
      const hint = `identityProviders.${settings.name}: a refresh token goes to the client and the token endpoint of the sign-in alone`;
      throw new ExchangeFault('OBO_MISCONFIGURED', { hint });
    }
    const answer = await postGrant(parts, () => fieldsOf(lent.reveal()), signal);
    return { value: answer, rotatedToken: successorIn(answer), isInDoubt: answer.status >= 500 };
  });
  switch (used.kind) {
    case 'used':
      return used.value;
    case 'unavailable':
      throw new ExchangeFault('OBO_TEMPORARY', { retryAfterMs: used.retryAfterMs });
    case 'absent':
    case 'over':
      throw new ExchangeFault('OBO_REJECTED', {
        hint: 'The refresh token of the sign-in is no good any more.',
      });
  }
}

/** Whatever else the answer holds: the one before it may be over. */
function successorIn({ status, text }: Answer): string | undefined {
  const token = status >= 200 && status <= 299 ? readObject(text)?.['refresh_token'] : undefined;
  const isOne = typeof token === 'string' && token !== '' && token.length <= LONGEST;
  return isOne ? token : undefined;
}
