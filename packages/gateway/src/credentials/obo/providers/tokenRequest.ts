import type { KeyObject } from 'node:crypto';
import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { Prover } from '../../oauth/dpop.ts';
import { ExchangeFault } from '../exchangeProvider.ts';
import type { CredentialMaterial } from './clientCredential.ts';
import type { ProviderTokenEndpoint } from './endpointSource.ts';
import type { ProviderParts } from './providerSettings.ts';

type Field = readonly [name: string, value: string];

export type PostGrantParts = Pick<
  ProviderParts,
  'settings' | 'fetch' | 'endpoint' | 'credential' | 'clock' | 'random'
>;

/** One form to a token endpoint, in the name of the entry's client. Rejects with ExchangeFault. */
export async function postGrant(
  parts: PostGrantParts,
  buildFields: () => readonly Field[] | Promise<readonly Field[]>,
  signal: AbortSignal,
  prover?: Prover,
): Promise<ProviderResponse> {
  const { settings, fetch, endpoint, credential, clock, random } = parts;
  const { name, clientId } = settings;
  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });
  if (clientId === undefined) throw misconfigured('clientId is missing');
  const [tokenEndpoint, material, formFields] = await Promise.all([
    endpoint.current(),
    credential.read(),
    buildFields(),
  ]);
  if (!matchesClientAuth(settings, material))
    throw misconfigured('the credential that clientAuth requires is missing');
  let dpopProof = '';
  const post = async () => {
    // Anew for each request: an assertion is good once.
    const { headers, fields } = await buildClientAuth({
      ...{ clientId, material, clock, random },
      secretPlacement: chooseSecretPlacement(settings, tokenEndpoint),
      tokenEndpoint: tokenEndpoint.url,
    });
    // What the exchange itself fills in counts more than what the provider is always told.
    const body = new URLSearchParams({
      ...settings.parameters,
      ...Object.fromEntries([...formFields, ...fields]),
    });
    dpopProof = prover?.createProof('POST', tokenEndpoint.url) ?? '';
    const dpopHeader = prover && { dpop: dpopProof };
    return sendProviderRequest({ fetch, clock }, tokenEndpoint.url, {
      method: 'POST',
      headers: { ...headers, ...dpopHeader, 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal,
    });
  };
  const first = await post();
  if (!prover?.recordNonce(tokenEndpoint.url, first.header('dpop-nonce'), dpopProof) || !requiresNonce(first))
    return first;
  // Nothing was done there but saying what to repeat (RFC 9449, section 8). Once: who asks again asks for something else.
  const second = await post();
  prover.recordNonce(tokenEndpoint.url, second.header('dpop-nonce'), dpopProof);
  return second;
}

function requiresNonce({ status, text }: ProviderResponse): boolean {
  return status === 400 && parseJsonObject(text)?.['error'] === 'use_dpop_nonce';
}

/** A stock configuration says nothing, and its login asks the metadata: the exchange does what the login does. */
function chooseSecretPlacement(
  { clientAuth, isDerived }: PostGrantParts['settings'],
  { authMethods }: ProviderTokenEndpoint,
): 'basic' | 'post' {
  if (clientAuth === 'post') return 'post';
  return isDerived && authMethods?.includes('client_secret_post') === true ? 'post' : 'basic';
}

/** Whoever names a method wants that one: another, or none, would show the provider what it must not see. */
function matchesClientAuth(
  { clientAuth }: PostGrantParts['settings'],
  { kind }: CredentialMaterial,
): boolean {
  if (clientAuth === undefined) return true;
  return clientAuth === 'private_key_jwt' ? kind === 'key' || kind === 'assertion' : kind === 'secret';
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** Long enough for one request and for clocks that differ. */
const ASSERTION_LIFETIME_S = 60;

interface ClientAuthParts {
  readonly clientId: string;
  readonly material: CredentialMaterial;
  /** Where a secret is written. */
  readonly secretPlacement: 'basic' | 'post';
  readonly tokenEndpoint: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** What is added to a token request. */
interface ClientAuth {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** One proof and never two (RFC 6749, section 2.3). */
async function buildClientAuth(parts: ClientAuthParts): Promise<ClientAuth> {
  const { clientId, material, secretPlacement } = parts;
  const clientIdField = ['client_id', clientId] as const;
  switch (material.kind) {
    case 'none':
      return { headers: {}, fields: [clientIdField] };
    case 'secret':
      return secretPlacement === 'post'
        ? { headers: {}, fields: [clientIdField, ['client_secret', material.secret]] }
        : { headers: { authorization: basicAuthorization(clientId, material.secret) }, fields: [] };
    case 'key':
      return withAssertion(clientIdField, await signAssertion(material, parts));
    case 'assertion':
      return withAssertion(clientIdField, material.assertion);
  }
}

function withAssertion(clientIdField: readonly [string, string], assertion: string): ClientAuth {
  return {
    headers: {},
    fields: [clientIdField, ['client_assertion_type', ASSERTION_TYPE], ['client_assertion', assertion]],
  };
}

/** Both are form-encoded before they are joined (RFC 6749, section 2.3.1): a colon or a percent sign would not survive. */
function basicAuthorization(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncode(clientId)}:${formEncode(secret)}`).toString('base64')}`;
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** private_key_jwt (RFC 7523, section 2.2). */
async function signAssertion(
  { key, thumbprint }: Extract<CredentialMaterial, { kind: 'key' }>,
  { clientId, tokenEndpoint, clock, random }: ClientAuthParts,
): Promise<string> {
  const alg = algorithmOf(key);
  if (alg === undefined) {
    const hint =
      'privateKeyFile must contain an RSA key (not RSA-PSS) or a P-256, P-384, P-521 or Ed25519 key.';
    throw new ExchangeFault('OBO_MISCONFIGURED', { hint });
  }
  const { SignJWT } = await import('jose');
  const now = Math.floor(clock.now() / 1_000);
  const assertion = new SignJWT({})
    .setProtectedHeader({
      alg,
      typ: 'JWT',
      ...(thumbprint !== undefined && { 'x5t#S256': Buffer.from(thumbprint, 'hex').toString('base64url') }),
    })
    .setIssuer(clientId)
    .setSubject(clientId)
    // One audience alone: providers refuse a list, because each of its members could use the assertion elsewhere.
    .setAudience(tokenEndpoint)
    .setJti(random.id())
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_LIFETIME_S);
  try {
    return await assertion.sign(key);
  } catch (cause) {
    throw new ExchangeFault('OBO_MISCONFIGURED', { hint: 'The key in privateKeyFile is too weak.', cause });
  }
}

/** RSA keys that are bound to PSS cannot be loaded by the platform's Web Crypto. */
function algorithmOf(key: KeyObject): string | undefined {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return 'RS256';
    case 'ec':
      return { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }[
        key.asymmetricKeyDetails?.namedCurve ?? ''
      ];
    case 'ed25519':
      return 'EdDSA';
    default:
      return undefined;
  }
}

/** Of one request; the door out has limits of its own besides. */
const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_LENGTH = 1024 * 1024;

/** What the provider said, read to its end and not judged yet. */
export interface ProviderResponse {
  readonly status: number;
  readonly text: string;
  /** When the request left: a lifetime is counted from here, because the provider may have counted from then. */
  readonly sentAt: number;
  header(name: string): string | undefined;
}

interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** One request, in bounded time. Rejects with ExchangeFault. */
export async function sendProviderRequest(
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  url: string,
  { method, headers, body, signal }: ProviderRequest,
): Promise<ProviderResponse> {
  const timeout = new AbortController();
  const cancel = clock.timer(TIMEOUT_MS, () => timeout.abort(new Error('timed out')), { keepAlive: true });
  const sentAt = clock.now();
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: 'application/json', ...headers },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    });
    const text = await response.text();
    return {
      status: response.status,
      text: text.length > MAX_RESPONSE_LENGTH ? '' : text,
      sentAt,
      header: (name) => response.headers.get(name) ?? undefined,
    };
  } catch (error) {
    throw toNetworkFault(error);
  } finally {
    cancel();
  }
}

/** A JSON object, or undefined. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** What the door out refuses, however often it is asked. */
const REFUSED_REASONS = new Set([
  'bad_url',
  'bad_request',
  'domain_not_allowed',
  'blocked_name',
  'private_address',
  'gateway_address',
  'hop_limit',
]);
const REDIRECT_REASONS = new Set(['redirect_refused', 'too_many_redirects']);
const UNREADABLE_REASONS = new Set(['body_too_large', 'sse_line_too_large', 'encoded_response']);
/** The provider's certificate is by nobody we know, for another name, over, or not valid yet. */
const UNTRUSTED_REASON = 'certificate_untrusted';
const MAX_CAUSE_DEPTH = 5;

/** No answer, or not a whole one. Judged by the typed words of the error and of its causes, never by its text. */
function toNetworkFault(error: unknown): ExchangeFault {
  if (error instanceof ExchangeFault) return error;
  const reasons = collectReasons(error);
  if (reasons.some((reason) => REFUSED_REASONS.has(reason))) {
    return misconfigured(error, 'The address of the identity provider is not allowed; see allowedAddresses.');
  }
  if (reasons.some((reason) => REDIRECT_REASONS.has(reason))) return createRedirectFault(error);
  if (reasons.includes(UNTRUSTED_REASON)) {
    return misconfigured(
      error,
      'The certificate of the identity provider is not trusted; renew it if it has expired, or set caFile to the CA that signed it.',
    );
  }
  if (reasons.some((reason) => UNREADABLE_REASONS.has(reason))) {
    return new ExchangeFault('OBO_EMPTY_RESPONSE', { cause: error });
  }
  return new ExchangeFault('OBO_TEMPORARY', { isRetryable: true, cause: error });
}

/** A token endpoint that sends us elsewhere is not the one that was configured. */
export function createRedirectFault(cause?: unknown, status?: number): ExchangeFault {
  const hint = 'The token endpoint responded with a redirect, which is never followed; correct its URL.';
  return new ExchangeFault('OBO_MISCONFIGURED', { hint, status, cause });
}

function misconfigured(cause: unknown, hint: string): ExchangeFault {
  return new ExchangeFault('OBO_MISCONFIGURED', { hint, cause });
}

/** `reason` and `detail` of the door out, `code` of the system. */
function collectReasons(error: unknown): string[] {
  const reasons: string[] = [];
  let current = error;
  for (
    let depth = 0;
    depth < MAX_CAUSE_DEPTH && typeof current === 'object' && current !== null;
    depth += 1
  ) {
    const { reason, detail, code, cause } = current as Readonly<Record<string, unknown>>;
    reasons.push(...[reason, detail, code].filter((value) => typeof value === 'string'));
    current = cause;
  }
  return reasons;
}
