import { type KeyObject, X509Certificate, createHash, createPrivateKey } from 'node:crypto';
import { type Clock, type Fetch, HiddenText, type Random, createSingleFlight } from '@behalf/kernel';
import { isSafeEndpointOf, isSafeUrl } from '../../oauth/addresses.ts';
import { type ClientAuthentication, signingAlgorithm } from '../../oauth/clientAuthentication.ts';
import type { Prover } from '../../oauth/dpop.ts';
import {
  type HttpResponse,
  parseJsonObject,
  sendRequest,
  sendTokenRequest,
} from '../../oauth/tokenRequest.ts';
import { ExchangeFault, type ProviderIdentity } from '../exchangeProvider.ts';
import { MAX_RESPONSE_BYTES, toNetworkFault, toResponseFault } from './exchangeResponse.ts';
import type { EffectiveSettings } from './providerSettings.ts';

const METADATA_LIFETIME_MS = 60 * 60 * 1_000;

export type ReadTextFile = (file: string) => Promise<string>;

interface ProviderTokenEndpoint {
  readonly url: string;
  /** `token_endpoint_auth_methods_supported`. Undefined if the metadata does not say, or was not read. */
  readonly authMethods: readonly unknown[] | undefined;
}

/** The gateway as a client of one identity provider. All methods reject with ExchangeFault. */
export interface ProviderClient {
  readonly settings: EffectiveSettings;
  /** Part of the cache key: the configured token endpoint, or the issuer. */
  readonly endpointName: string;
  /** The configured token endpoint, or the one in the metadata of the issuer. */
  endpoint(): Promise<ProviderTokenEndpoint>;
  /** Reads the credential files for each exchange, so that a replaced file takes effect immediately. */
  readCredential(): Promise<ClientAuthentication>;
  /**
   * Fingerprint of the credential that was read last. A federated assertion is identified by its file name, because another
   * process renews it frequently.
   */
  credentialFingerprint(): string;
  /** Sends one authenticated form to the token endpoint. */
  postGrant(fields: GrantFields, signal: AbortSignal, prover?: Prover): Promise<HttpResponse>;
}

export type GrantFields = Readonly<Record<string, string>>;

interface ProviderClientParts {
  readonly settings: EffectiveSettings;
  readonly fetch: Fetch;
  readonly readText: ReadTextFile;
  readonly clock: Clock;
  readonly random: Random;
}

export function createProviderClient(parts: ProviderClientParts): ProviderClient {
  const { settings, fetch, clock, random } = parts;
  const { clientId, issuer } = settings;
  const source = createEndpointSource(parts);
  const credential = createCredentialSource(parts);
  return {
    settings,
    endpointName: source.name,
    endpoint: () => source.current(),
    readCredential: () => credential.read(),
    credentialFingerprint: () => credential.fingerprint(),
    async postGrant(fields, signal, prover) {
      if (clientId === undefined) throw misconfigured(settings, 'clientId is missing');
      const [endpoint, auth] = await Promise.all([source.current(), credential.read()]);
      if (!matchesClientAuth(settings, auth))
        throw misconfigured(settings, 'the credential that clientAuth requires is missing');
      const outcome = await sendTokenRequest({
        ...{ endpoint: endpoint.url, issuer, fetch, clock, random, signal, prover },
        client: { clientId, source: 'configured', auth: selectSecretMethod(auth, settings, endpoint) },
        // The fields of the exchange replace configured parameters of the same name.
        form: { ...settings.parameters, ...fields },
        maxBytes: MAX_RESPONSE_BYTES,
      });
      switch (outcome.kind) {
        case 'response':
          return outcome.response;
        case 'failed':
          throw toNetworkFault(outcome.error);
        case 'not_sent':
          throw new ExchangeFault('OBO_TEMPORARY', { isRetryable: true });
        case 'client_key_unusable':
          throw misconfigured(
            settings,
            'privateKeyFile must contain an RSA key of at least 2048 bits (not RSA-PSS), or a P-256, P-384, P-521 or Ed25519 key',
            outcome.cause,
          );
      }
    },
  };
}

export function misconfigured({ name }: EffectiveSettings, hint: string, cause?: unknown): ExchangeFault {
  return new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}`, cause });
}

/** Another method than the configured `clientAuth` would send the provider a credential that is not intended for it. */
function matchesClientAuth({ clientAuth }: EffectiveSettings, { method }: ClientAuthentication): boolean {
  if (clientAuth === undefined) return true;
  return clientAuth === 'private_key_jwt' ? method === 'private_key_jwt' : method.startsWith('client_secret');
}

/** A provider derived from the login uses the same method as the login, which follows the metadata. */
function selectSecretMethod(
  auth: ClientAuthentication,
  { isDerived }: EffectiveSettings,
  { authMethods }: ProviderTokenEndpoint,
): ClientAuthentication {
  const usesPost = isDerived && authMethods?.includes('client_secret_post') === true;
  return usesPost && auth.method === 'client_secret_basic'
    ? { method: 'client_secret_post', secret: auth.secret }
    : auth;
}

function createCredentialSource({ settings, readText }: ProviderClientParts) {
  const { clientSecret, certificateFile, privateKeyFile, assertionFile, clientAuth } = settings;
  const keyFile = privateKeyFile ?? certificateFile;
  // Without `clientAuth`, a key or an assertion takes precedence over a shared secret.
  const usesSecret = clientAuth === 'basic' || clientAuth === 'post';
  const hasFile = !usesSecret && (assertionFile ?? keyFile) !== undefined;
  let fingerprint = hashTuple(
    hasFile
      ? ['file', assertionFile ?? '', keyFile ?? '', certificateFile ?? '']
      : ['secret', clientSecret ?? null],
  );

  async function readKey(file: string): Promise<ClientAuthentication> {
    const [keyPem, certificatePem] = await Promise.all([
      readText(file),
      certificateFile === undefined ? undefined : readText(certificateFile),
    ]).catch((error: unknown) => {
      throw misconfigured(settings, 'privateKeyFile or certificateFile cannot be read', error);
    });
    let key: KeyObject;
    let certificate: X509Certificate | undefined;
    try {
      key = createPrivateKey(keyPem);
      certificate = certificatePem === undefined ? undefined : new X509Certificate(certificatePem);
    } catch {
      // The original error may quote the key.
      throw misconfigured(
        settings,
        'privateKeyFile is not an unencrypted PEM private key, or certificateFile is not a certificate',
      );
    }
    if (certificate && !certificate.checkPrivateKey(key))
      throw misconfigured(settings, 'privateKeyFile does not belong to certificateFile');
    const certificateThumbprint = certificate?.fingerprint256.replaceAll(':', '');
    fingerprint = hashTuple(['key', certificateThumbprint ?? '', exportPem(key)]);
    return {
      ...{ method: 'private_key_jwt', key, alg: signingAlgorithm(key) ?? '', certificateThumbprint },
      audience: settings.clientAssertionAudience,
    };
  }

  return {
    fingerprint: () => fingerprint,
    async read(): Promise<ClientAuthentication> {
      if (!hasFile) {
        if (clientSecret === undefined) return { method: 'none' };
        const method = clientAuth === 'post' ? 'client_secret_post' : 'client_secret_basic';
        return { method, secret: new HiddenText(clientSecret) };
      }
      if (assertionFile === undefined) return readKey(keyFile ?? '');
      const assertion = await readTokenFile(settings, 'assertionFile', readText);
      return { method: 'private_key_jwt', assertion: new HiddenText(assertion) };
    },
  };
}

/** PKCS #8. */
export function exportPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A token that another process renews in a file. */
async function readTokenFile(
  settings: EffectiveSettings,
  field: 'assertionFile' | 'actorTokenFile',
  readText: ReadTextFile,
): Promise<string> {
  const text = await readText(settings[field] ?? '').catch((error: unknown) => {
    throw misconfigured(settings, `${field} cannot be read`, error);
  });
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw misconfigured(settings, `${field} does not contain a token`);
  return token;
}

/** SHA-256 of a tuple. Two different tuples never have the same encoding. */
function hashTuple(parts: readonly (string | null)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** The actor token of RFC 8693, section 2.1: the party that acts for the user. */
export interface ActorToken {
  /** Identifies the actor of the token that was read last; the token itself changes frequently. Empty without an actor. */
  fingerprint(): string;
  /** Reads the file for each exchange. Rejects with ExchangeFault. */
  read(): Promise<string | undefined>;
}

export function createActorToken(settings: EffectiveSettings, readText: ReadTextFile): ActorToken {
  const { actorTokenFile: file } = settings;
  if (file === undefined) return { fingerprint: () => '', read: async () => undefined };
  let fingerprint = hashTuple([file]);
  return {
    fingerprint: () => fingerprint,
    async read() {
      const token = await readTokenFile(settings, 'actorTokenFile', readText);
      fingerprint = hashTuple([file, readActorIdentity(token)]);
      return token;
    },
  };
}

/** The unverified `iss` and `sub`. They only distinguish actors; the provider verifies the token. */
function readActorIdentity(token: string): string {
  const { iss, sub } = parseJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {};
  return typeof sub === 'string' ? JSON.stringify([typeof iss === 'string' ? iss : null, sub]) : token;
}

interface EndpointSource {
  readonly name: string;
  current(): Promise<ProviderTokenEndpoint>;
}

function createEndpointSource({ settings, fetch, clock }: ProviderClientParts): EndpointSource {
  const { issuer, tokenEndpoint } = settings;
  const failingSource = (name: string, hint: string): EndpointSource => ({
    name,
    current: () => Promise.reject(misconfigured(settings, hint)),
  });
  const address = tokenEndpoint ?? issuer;
  if (address === undefined) return failingSource('', 'neither issuer nor tokenEndpoint is set');
  // The client credential and the user's token are sent to this address.
  if (!isSafeUrl(address)) {
    return failingSource(
      address,
      'issuer and tokenEndpoint must be https URLs; http is accepted only for loopback addresses',
    );
  }
  if (tokenEndpoint !== undefined) {
    return { name: address, current: async () => ({ url: tokenEndpoint, authMethods: undefined }) };
  }
  const flights = createSingleFlight<ProviderTokenEndpoint>();
  let cached: { readonly endpoint: ProviderTokenEndpoint; readonly until: number } | undefined;

  async function readMetadata(url: string): Promise<HttpResponse> {
    try {
      const request = { url, method: 'GET', headers: {}, maxBytes: MAX_RESPONSE_BYTES } as const;
      return await sendRequest({ ...request, fetch, clock });
    } catch (error) {
      throw toNetworkFault(error);
    }
  }

  async function discover(expectedIssuer: string): Promise<ProviderTokenEndpoint> {
    const startedAt = clock.now();
    const { origin, pathname } = new URL(expectedIssuer);
    const path = pathname.replace(/\/$/, '');
    // OpenID Connect Discovery 1.0, section 4; then RFC 8414, section 3.1.
    let response = await readMetadata(`${origin}${path}/.well-known/openid-configuration`);
    if (response.status === 404)
      response = await readMetadata(`${origin}/.well-known/oauth-authorization-server${path}`);
    const endpoint = parseMetadata(response, expectedIssuer);
    cached = { endpoint, until: startedAt + METADATA_LIFETIME_MS };
    return endpoint;
  }

  function parseMetadata(response: HttpResponse, expectedIssuer: string): ProviderTokenEndpoint {
    if (response.status !== 200) throw toResponseFault(response, undefined, clock, 'jwt-bearer');
    const document = parseJsonObject(response.text ?? '');
    if (!document)
      throw new ExchangeFault('OBO_TEMPORARY', { status: 200, hint: 'The metadata is not JSON.' });
    // RFC 8414, section 3.3: the document of another issuer would send the client assertion to that issuer (mix-up attack).
    if (document['issuer'] !== expectedIssuer) {
      throw misconfigured(
        settings,
        'the issuer in the metadata differs from the configured issuer; the two must match exactly',
      );
    }
    const { token_endpoint: url, token_endpoint_auth_methods_supported: methods } = document;
    if (!isSafeEndpointOf(expectedIssuer, url))
      throw misconfigured(settings, 'the metadata of the issuer does not contain an https token endpoint');
    return { url, authMethods: Array.isArray(methods) ? (methods as readonly unknown[]) : undefined };
  }

  return {
    name: address,
    async current() {
      if (cached && clock.now() < cached.until) return cached.endpoint;
      return flights.run([], () => discover(address), { detached: true });
    },
  };
}

interface IdentityInput {
  readonly client: ProviderClient;
  readonly actor: ActorToken;
  readonly grant: ProviderIdentity['grant'];
  /** Clients of the authorization servers of resources, for the second exchange of `id-jag`. */
  readonly resourceServerClients?: readonly ProviderClient[];
}

/** Returns the same object until a credential or actor file changes. */
export function createProviderIdentity({
  client,
  actor,
  grant,
  resourceServerClients = [],
}: IdentityInput): () => ProviderIdentity {
  const { settings } = client;
  const clients = [client, ...resourceServerClients];
  // Settings that change the issued token belong to the cache key as well.
  const settingsHash = hashTuple([
    settings.dpop ?? null,
    settings.subject ?? null,
    JSON.stringify(
      resourceServerClients.map(({ settings, endpointName }) => [
        endpointName,
        settings.clientId,
        settings.clientAuth,
      ]),
    ),
    settings.clientAuth ?? null,
    settings.subjectTokenType ?? null,
    settings.requestedTokenType ?? null,
    JSON.stringify(Object.entries(settings.parameters ?? {}).sort()),
  ]);
  let identity: ProviderIdentity | undefined;
  let lastCredentials = '';
  return () => {
    const credentials = clients.map((each) => each.credentialFingerprint()).join(' ');
    const actorFingerprint = grant === 'token-exchange' ? actor.fingerprint() : '';
    if (identity?.actor === actorFingerprint && credentials === lastCredentials) return identity;
    lastCredentials = credentials;
    identity = Object.freeze<ProviderIdentity>({
      provider: settings.name,
      grant,
      // Key of the endpoint backoff. The endpoints of both exchanges form one key: a failure of the second endpoint must not pause
      // the first one for other servers.
      endpoint: clients.map(({ endpointName }) => endpointName).join(' > '),
      clientId: settings.clientId ?? '',
      credentialVersion: hashTuple([credentials, settingsHash]),
      actor: actorFingerprint,
    });
    return identity;
  };
}
