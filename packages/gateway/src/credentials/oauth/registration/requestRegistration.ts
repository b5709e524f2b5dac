import { withTimeout, type Clock, type Fetch } from '@behalf/kernel';
import type { AuthorizationServerMetadata } from '../discovery/authorizationServerMetadata.ts';
import { toNetworkError } from '../discovery/readDocument.ts';
import type { OAuthNetwork } from '../oauthNetwork.ts';
import { createUnavailableError, SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { buildRegistration } from './clientDocument.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const MAX_TEXT_LENGTH = 2_048;

export interface RegistrationParts {
  readonly network: OAuthNetwork;
  readonly clock: Clock;
  readonly baseUrl: () => string;
}

/** What came of a registration. */
export interface RegistrationResult {
  readonly clientId: string;
  readonly method: 'none' | 'client_secret_basic' | 'client_secret_post';
  readonly secret: string | undefined;
  /** When the secret is over. */
  readonly expiresAt: number | null;
}

/** Registers us at an authorization server (RFC 7591, section 3). */
export async function requestRegistration(
  { network, clock, baseUrl }: RegistrationParts,
  target: SignInTarget,
  asMetadata: AuthorizationServerMetadata,
  { redirectUri, scopes }: { readonly redirectUri: string; readonly scopes: string },
): Promise<RegistrationResult> {
  const { registrationEndpoint } = asMetadata;
  if (registrationEndpoint === null) throw new SignInImpossible('no_client');
  const clientMetadata = {
    ...buildRegistration(baseUrl(), redirectUri),
    token_endpoint_auth_method: selectAuthMethod(asMetadata.authMethods),
    ...(scopes !== '' && { scope: scopes }),
  };
  const fetch = network.fetchFor(target, asMetadata.issuer);
  const response = await postRegistration(fetch, registrationEndpoint, clientMetadata, { network, clock });
  return parseRegistration(response);
}

function selectAuthMethod(supported: readonly string[] | null): string {
  const preferred = ['client_secret_basic', 'client_secret_post', 'none'];
  // Absent means the first (RFC 8414, section 2).
  return preferred.find((method) => supported?.includes(method)) ?? 'client_secret_basic';
}

type SendParts = Pick<RegistrationParts, 'network' | 'clock'>;

async function postRegistration(
  fetch: Fetch,
  url: string,
  clientMetadata: unknown,
  { network, clock }: SendParts,
): Promise<unknown> {
  const abort = new AbortController();
  const work = (async () => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(clientMetadata),
      redirect: 'error',
      signal: abort.signal,
    });
    const { status } = response;
    if (status !== 200 && status !== 201) {
      await response.body?.cancel();
      if (status >= 500 || status === 429) throw createUnavailableError();
      throw new SignInImpossible('registration_refused');
    }
    return JSON.parse(await readLimitedText(response)) as unknown;
  })();
  try {
    return await withTimeout(clock, TIMEOUT_MS, work, () => {
      abort.abort(new Error('the request timed out'));
      throw createUnavailableError();
    });
  } catch (error) {
    if (error instanceof SyntaxError) throw new SignInImpossible('registration_refused');
    throw toNetworkError(error, network.readError);
  }
}

async function readLimitedText(response: Response): Promise<string> {
  const bytes = await response.arrayBuffer();
  if (bytes.byteLength > MAX_BYTES) throw new SignInImpossible('registration_refused');
  return Buffer.from(bytes).toString('utf8');
}

/** The method that it gave counts, and not the one that was wished for (RFC 7591, section 3.2.1). */
function parseRegistration(response: unknown): RegistrationResult {
  const fields =
    typeof response === 'object' && response !== null ? (response as Record<string, unknown>) : {};
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: grantedMethod } = fields;
  const { client_secret_expires_at: secretExpiresAt } = fields;
  if (!isText(clientId) || (secret !== undefined && !isText(secret))) {
    throw new SignInImpossible('registration_refused');
  }
  const method = grantedMethod ?? (secret === undefined ? 'none' : 'client_secret_basic');
  if (method !== 'none' && method !== 'client_secret_basic' && method !== 'client_secret_post') {
    throw new SignInImpossible('registration_refused');
  }
  if (method !== 'none' && secret === undefined) throw new SignInImpossible('registration_refused');
  const expiresAt =
    typeof secretExpiresAt === 'number' && secretExpiresAt > 0 && secret !== undefined
      ? secretExpiresAt * 1_000
      : null;
  return { clientId, method, secret, expiresAt };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH;
}
