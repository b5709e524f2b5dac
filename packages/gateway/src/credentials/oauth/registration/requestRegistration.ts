import { within, type Clock, type Fetch } from '@behalf/kernel';
import type { AuthorizationServer } from '../discovery/authorizationServer.ts';
import { networkProblem } from '../discovery/readDocument.ts';
import type { OAuthNetwork } from '../oauthNetwork.ts';
import { authorizationServerAway, SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { registrationOf } from './clientDocument.ts';

const PATIENCE_MS = 10_000;
const MOST_BYTES = 64 * 1024;
const LONGEST_TEXT = 2_048;

export interface RegistrationParts {
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  readonly base: () => string;
}

/** What came of a registration. */
export interface Registered {
  readonly clientId: string;
  readonly method: 'none' | 'client_secret_basic' | 'client_secret_post';
  readonly secret: string | undefined;
  /** When the secret is over. */
  readonly expiresAt: number | null;
}

/** Registers us at an authorization server (RFC 7591, section 3). */
export async function requestRegistration(
  { network, clock, base }: RegistrationParts,
  target: SignInTarget,
  as: AuthorizationServer,
  { redirectUri, scopes }: { readonly redirectUri: string; readonly scopes: string },
): Promise<Registered> {
  const { registrationEndpoint } = as;
  if (registrationEndpoint === null) throw new SignInImpossible('no_client');
  const wish = {
    ...registrationOf(base(), redirectUri),
    token_endpoint_auth_method: wishedMethod(as.authMethods),
    ...(scopes !== '' && { scope: scopes }),
  };
  const fetch = network.fetchFor(target, as.issuer);
  const answer = await send(fetch, registrationEndpoint, wish, { network, clock });
  return readRegistration(answer);
}

function wishedMethod(offered: readonly string[] | null): string {
  const wished = ['client_secret_basic', 'client_secret_post', 'none'];
  // Absent means the first (RFC 8414, section 2).
  return wished.find((method) => offered?.includes(method)) ?? 'client_secret_basic';
}

type Timed = Pick<RegistrationParts, 'network' | 'clock'>;

async function send(fetch: Fetch, url: string, wish: unknown, { network, clock }: Timed): Promise<unknown> {
  const abort = new AbortController();
  const work = (async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(wish),
      redirect: 'error',
      signal: abort.signal,
    });
    const { status } = response;
    if (status !== 200 && status !== 201) {
      await response.body?.cancel();
      if (status >= 500 || status === 429) throw authorizationServerAway();
      throw new SignInImpossible('registration_refused');
    }
    return JSON.parse(await limitedText(response)) as unknown;
  })();
  try {
    return await within(clock, PATIENCE_MS, work, () => {
      abort.abort(new Error('no answer in time'));
      throw authorizationServerAway();
    });
  } catch (error) {
    if (error instanceof SyntaxError) throw new SignInImpossible('registration_refused');
    throw networkProblem(error, network.readError);
  }
}

async function limitedText(response: Response): Promise<string> {
  const bytes = await response.arrayBuffer();
  if (bytes.byteLength > MOST_BYTES) throw new SignInImpossible('registration_refused');
  return Buffer.from(bytes).toString('utf8');
}

/** The method that it gave counts, and not the one that was wished for (RFC 7591, section 3.2.1). */
function readRegistration(answer: unknown): Registered {
  const fields = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: given } = fields;
  const { client_secret_expires_at: over } = fields;
  if (!isText(clientId) || (secret !== undefined && !isText(secret))) {
    throw new SignInImpossible('registration_refused');
  }
  const method = given ?? (secret === undefined ? 'none' : 'client_secret_basic');
  if (method !== 'none' && method !== 'client_secret_basic' && method !== 'client_secret_post') {
    throw new SignInImpossible('registration_refused');
  }
  if (method !== 'none' && secret === undefined) throw new SignInImpossible('registration_refused');
  const expiresAt = typeof over === 'number' && over > 0 && secret !== undefined ? over * 1_000 : null;
  return { clientId, method, secret, expiresAt };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT;
}
