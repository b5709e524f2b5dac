import type * as msal from '@azure/msal-node';
import type { INetworkModule, NetworkRequestOptions, NetworkResponse } from '@azure/msal-node';
import { parseUrl } from '@behalf/contracts';
import type { Clock, Fetch, Random } from '@behalf/kernel';
import type { ClientAuthentication } from '../../oauth/clientAuthentication.ts';
import { type HttpResponse, parseJsonObject, sendRequest } from '../../oauth/tokenRequest.ts';
import { ExchangeFault, type ExchangeProvider } from '../exchangeProvider.ts';
import { MAX_RESPONSE_BYTES, readTokenResponse, toNetworkFault } from './exchangeResponse.ts';
import { createProviderIdentity, exportPem, misconfigured } from './providerClient.ts';
import { type EffectiveSettings, entraAuthority } from './providerSettings.ts';
import type { ProviderParts } from './rfc7523.ts';

interface EntraProviderParts extends ProviderParts {
  readonly fetch: Fetch;
  readonly random: Random;
}

/**
 * The On-Behalf-Of exchange of Microsoft Entra. MSAL builds the request and keeps nothing: its instance lives for one exchange
 * (ADR 19). Single flight, cache and retry belong to the exchanger. MSAL is loaded on first use, because it is large.
 */
export function createEntraProvider(
  { client, actor, clock, fetch, random }: EntraProviderParts,
  loadMsal: () => Promise<Pick<typeof msal, 'ConfidentialClientApplication'>> = () =>
    import('@azure/msal-node'),
): ExchangeProvider {
  const { settings } = client;
  const identity = createProviderIdentity({ client, actor, grant: 'entra' });

  return {
    get identity() {
      return identity();
    },
    async exchange(request, signal) {
      const [{ url: tokenEndpoint }, credential] = await Promise.all([
        client.endpoint(),
        client.readCredential(),
      ]);
      const auth = authOptions(settings, credential, tokenEndpoint);
      const { ConfidentialClientApplication } = await loadMsal().catch(() => {
        throw misconfigured(
          settings,
          '@azure/msal-node cannot be loaded: reinstall the packages of the gateway',
        );
      });
      const network = createEntraNetwork({ fetch, clock, tokenEndpoint, signal });
      let msalToken: string | undefined;
      let failure: unknown;
      try {
        // A new instance each time. MSAL's throttle is not per user: after a 429 for one user it would block all users.
        const application = new ConfidentialClientApplication({
          auth,
          system: { networkClient: network.client, disableInternalRetries: true },
        });
        const result = await application.acquireTokenOnBehalfOf({
          oboAssertion: request.subject.token.reveal(),
          scopes: [...request.scopes],
          skipCache: true,
          correlationId: newGuid(random),
          ...(request.claims !== undefined && { claims: request.claims }),
        });
        msalToken = result?.accessToken;
      } catch (error) {
        failure = error;
      }
      const pending = network.response();
      if (!pending) throw toUnsentFault(settings, failure);
      // MSAL's errors quote the provider, and MSAL accepts an empty response as a token. Read the response itself.
      const response = await pending;
      const token = readTokenResponse(response, { clock, grant: 'entra' });
      if (msalToken !== token.token) {
        const hint = 'The response contains a token, but it is not a valid Entra response.';
        throw new ExchangeFault('OBO_EMPTY_RESPONSE', { status: response.status, hint });
      }
      return token;
    },
  };
}

function authOptions(
  settings: EffectiveSettings,
  credential: ClientAuthentication,
  tokenEndpoint: string,
): msal.Configuration['auth'] {
  const { clientId, authority, issuer } = settings;
  if (clientId === undefined) throw misconfigured(settings, 'clientId is missing');
  const configured = authority ?? issuer ?? tokenEndpoint.replace(/\/oauth2\/.*$/, '');
  if (!parseUrl(configured)) throw misconfigured(settings, 'authority is not a URL');
  const authorityUrl = new URL(entraAuthority(configured));
  // Static metadata replaces MSAL's instance and endpoint discovery. MSAL accepts https only; nothing is sent to the authority.
  const httpsAuthority = `https://${authorityUrl.host}${authorityUrl.pathname}`;
  const metadata = {
    token_endpoint: tokenEndpoint,
    authorization_endpoint: `${httpsAuthority}/oauth2/v2.0/authorize`,
    issuer: `${httpsAuthority}/v2.0`,
    jwks_uri: `${httpsAuthority}/discovery/v2.0/keys`,
  };
  return {
    clientId,
    authority: httpsAuthority,
    knownAuthorities: [authorityUrl.host],
    authorityMetadata: JSON.stringify(metadata),
    // The gateway handles claims challenges, so Entra may issue long-lived tokens that it can revoke (continuous access evaluation).
    clientCapabilities: ['CP1'],
    ...credentialOptions(settings, credential),
  };
}

function credentialOptions(
  settings: EffectiveSettings,
  credential: ClientAuthentication,
): Partial<msal.Configuration['auth']> {
  if (credential.method === 'none')
    throw misconfigured(settings, 'clientSecret, certificateFile or assertionFile is missing');
  if ('secret' in credential) return { clientSecret: credential.secret.reveal() };
  if ('assertion' in credential) return { clientAssertion: credential.assertion.reveal() };
  const { key, certificateThumbprint: thumbprintSha256 } = credential;
  if (thumbprintSha256 === undefined)
    throw misconfigured(settings, 'a private key needs its certificateFile');
  return { clientCertificate: { thumbprintSha256, privateKey: exportPem(key) } };
}

/** MSAL could not build the request: the key has an unsupported type, or the claims are not JSON. */
function toUnsentFault({ name }: EffectiveSettings, failure: unknown): ExchangeFault {
  const code =
    typeof failure === 'object' && failure !== null && 'errorCode' in failure ? failure.errorCode : undefined;
  return new ExchangeFault('OBO_MISCONFIGURED', {
    hint: `identityProviders.${name}: the request could not be built; the certificate must be RSA and claims must be JSON`,
    ...(typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) && { providerCode: code }),
  });
}

/** Entra requires correlation ids to be UUIDs (RFC 9562, version 4). */
function newGuid(random: Random): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

interface EntraNetworkParts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly tokenEndpoint: string;
  readonly signal: AbortSignal;
}

interface EntraNetwork {
  readonly client: INetworkModule;
  /** The response to the one request. Undefined if MSAL sent none. */
  response(): Promise<HttpResponse> | undefined;
}

/** MSAL's network module for one exchange. It permits exactly one POST, to the configured token endpoint. */
export function createEntraNetwork({ fetch, clock, tokenEndpoint, signal }: EntraNetworkParts): EntraNetwork {
  let pending: Promise<HttpResponse> | undefined;

  async function post<T>(url: string, options: NetworkRequestOptions = {}): Promise<NetworkResponse<T>> {
    // MSAL appends a correlation id as a query.
    if (url !== tokenEndpoint && !url.startsWith(`${tokenEndpoint}?`))
      throw new Error('not the token endpoint');
    if (pending) throw new Error('only one request is allowed per exchange');
    const { headers = {}, body = '' } = options;
    pending = sendRequest({ url, headers, body, fetch, clock, signal, maxBytes: MAX_RESPONSE_BYTES }).catch(
      (error: unknown) => {
        throw toNetworkFault(error);
      },
    );
    const response = await pending;
    return { status: response.status, headers: {}, body: (parseJsonObject(response.text ?? '') ?? {}) as T };
  }

  return {
    client: {
      sendPostRequestAsync: post,
      // MSAL uses GET for discovery only, and all metadata is static.
      sendGetRequestAsync: () => Promise.reject(new Error('GET requests are not allowed')),
    },
    response: () => pending,
  };
}
