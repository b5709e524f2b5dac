import { type KeyObject, createPrivateKey } from 'node:crypto';
import type { OAuthClientKey } from '../../ports/index.ts';
import { type ClientAuthentication, type OAuthClient, signingAlgorithm } from './clientAuthentication.ts';
import { type ClientUrls, type DocumentKey, asDraft, buildClientUrls } from './clientDocument.ts';
import { type IssuerSettings, findIssuerEntry } from './issuers.ts';
import type { AuthorizationServerMetadata } from './metadata.ts';
import type { DynamicClients } from './registration.ts';
import { SignInImpossible, type SignInTarget } from './signInTarget.ts';

/** Selects the client that the gateway uses at an authorization server. */
export interface OAuthClients {
  /** The client for a new sign-in. */
  obtain(use: ClientUse, scopes: string): Promise<OAuthClient>;
  /**
   * The current form of the client that obtained a grant. If that client is gone, the result has another id: the client of the
   * definition, the registered client, or one without an id.
   */
  resolveClient(use: ClientUse, clientId: string): Promise<OAuthClient>;
  /**
   * Registers a replacement for a dynamic client that the authorization server refused. False for other clients, and if the server
   * offers no registration. If the registration fails, it rejects and the refused client stays.
   */
  reregister(
    use: ClientUse,
    client: Pick<OAuthClient, 'clientId' | 'source'>,
    scopes: string,
  ): Promise<boolean>;
  /** Removes a dynamic client that the authorization server refused. False for other clients, which always stay. */
  forget(use: ClientOwner, client: Pick<OAuthClient, 'clientId' | 'source'>): Promise<boolean>;
  clientUrls(target: SignInTarget): ClientUrls;
}

/** A client belongs to one server of one tenant at one issuer. */
interface ClientOwner {
  readonly tenant: string;
  readonly target: SignInTarget;
  readonly issuer: string;
}

export interface ClientUse extends ClientOwner {
  readonly asMetadata: Pick<AuthorizationServerMetadata, 'authMethods'> &
    Partial<AuthorizationServerMetadata>;
}

interface OAuthClientsParts {
  readonly baseUrl: () => string;
  readonly readText: ReadKeyFile;
  readonly dynamic: DynamicClients;
  readonly documentKey: DocumentKey;
  readonly issuerSettings: () => IssuerSettings;
  /** Overrides the URLs below `baseUrl`. */
  readonly clientUrls?: (target: SignInTarget) => ClientUrls;
}

/** Order of preference: the client of the definition, the gateway's client ID metadata document, a registered client. */
export function createOAuthClients(parts: OAuthClientsParts): OAuthClients {
  const { baseUrl, readText, dynamic, documentKey, issuerSettings } = parts;
  const clientUrls = parts.clientUrls ?? (({ server }: SignInTarget) => buildClientUrls(baseUrl(), server));

  const keyOf = ({ tenant, target, issuer }: ClientOwner): OAuthClientKey => ({
    tenant,
    serverId: target.server.id,
    issuer,
    redirectUri: clientUrls(target).redirectUri,
  });

  const audienceAt = (issuer: string) => findIssuerEntry(issuerSettings(), issuer)?.clientAssertionAudience;

  /**
   * The same server as a draft. A draft has another redirect URI and therefore another client. Grants obtained before the server was
   * saved keep the client of the draft; new sign-ins use the client of the server.
   */
  function toDraftUse<U extends ClientOwner>(use: U): U | undefined {
    const { server } = use.target;
    return server.source === 'user'
      ? { ...use, target: { ...use.target, server: asDraft(server) } }
      : undefined;
  }

  async function findRegistered(use: ClientUse, clientId: string): Promise<OAuthClient | null> {
    const registered = await dynamic.find(keyOf(use));
    if (registered?.clientId === clientId) return registered;
    const draftUse = toDraftUse(use);
    const draftClient = draftUse && (await dynamic.find(keyOf(draftUse)));
    return draftClient?.clientId === clientId ? draftClient : registered;
  }

  async function forgetDraftClient(use: ClientOwner, clientId: string): Promise<void> {
    const draftUse = toDraftUse(use);
    if (draftUse) await dynamic.forget(keyOf(draftUse), clientId);
  }

  async function findDocumentClient(
    { target, issuer }: ClientOwner,
    clientId: string | null,
  ): Promise<OAuthClient | null> {
    const { documentUrl, publicDocumentUrl } = clientUrls(target);
    if (clientId === null) return null;
    if (clientId === publicDocumentUrl) return { clientId, source: 'document', auth: { method: 'none' } };
    if (clientId !== documentUrl) return null;
    const { key, kid } = await documentKey.current();
    const auth = { method: 'private_key_jwt', key, alg: 'ES256', kid, audience: audienceAt(issuer) } as const;
    return { clientId, source: 'document', auth };
  }

  /** The document with a key, if the authorization server supports `private_key_jwt`; else the public one. */
  function selectDocumentUrl({ target, asMetadata }: ClientUse): string | null {
    if (asMetadata.supportsClientDocuments !== true) return null;
    const { documentUrl, publicDocumentUrl } = clientUrls(target);
    return asMetadata.authMethods?.includes('private_key_jwt') ? documentUrl : publicDocumentUrl;
  }

  /** The client in the definition. Undefined if it names none. */
  async function readConfiguredClient({
    target,
    issuer,
    asMetadata,
  }: ClientUse): Promise<OAuthClient | undefined> {
    const { clientId, clientSecret: secret, raw } = target.oauth;
    if (clientId === undefined) return undefined;
    const client = (auth: ClientAuthentication): OAuthClient => ({ clientId, source: 'configured', auth });
    if (raw.private_key_file !== undefined && target.isOperatorDefined) {
      const key = await readPrivateKey(raw.private_key_file, readText);
      const alg = raw.private_key_alg ?? signingAlgorithm(key);
      if (alg === undefined) throw new SignInImpossible('client_key_unusable');
      const audience = audienceAt(issuer);
      return client({ method: 'private_key_jwt', key, alg, kid: raw.private_key_id, audience });
    }
    if (secret === undefined) return client({ method: 'none' });
    return client({
      method: selectSecretAuthMethod(raw.token_exchange_method, asMetadata.authMethods),
      secret,
    });
  }

  return {
    clientUrls,
    async obtain(use, scopes) {
      const { target, asMetadata } = use;
      const client =
        (await readConfiguredClient(use)) ?? (await findDocumentClient(use, selectDocumentUrl(use)));
      if (client) return client;
      if (!canRegister(asMetadata)) throw new SignInImpossible('no_client');
      return dynamic.obtain(keyOf(use), { target, asMetadata, scopes });
    },
    async resolveClient(use, clientId) {
      const draftUse = toDraftUse(use);
      return (
        (await readConfiguredClient(use)) ??
        (await findDocumentClient(use, clientId)) ??
        (draftUse && (await findDocumentClient(draftUse, clientId))) ??
        (await findRegistered(use, clientId)) ??
        unknownClient
      );
    },
    async reregister(use, { clientId, source }, scopes) {
      const { target, asMetadata } = use;
      if (source !== 'dynamic' || !canRegister(asMetadata)) return false;
      await dynamic.reregister(keyOf(use), clientId, { target, asMetadata, scopes });
      await forgetDraftClient(use, clientId);
      return true;
    },
    async forget(use, { clientId, source }) {
      if (source !== 'dynamic') return false;
      await dynamic.forget(keyOf(use), clientId);
      await forgetDraftClient(use, clientId);
      return true;
    },
  };
}

/** Authorization servers never issue an empty client id. */
const unknownClient: OAuthClient = { clientId: '', source: 'dynamic', auth: { method: 'none' } };

/** Whether the metadata is complete and offers registration. */
function canRegister(asMetadata: ClientUse['asMetadata']): asMetadata is AuthorizationServerMetadata {
  return asMetadata.tokenEndpoint !== undefined && (asMetadata.registrationEndpoint ?? null) !== null;
}

export type ReadKeyFile = (file: string) => Promise<string>;

/** `client_secret_basic` is the default (RFC 8414, section 2). The form applies if it is configured, or if only it is supported. */
function selectSecretAuthMethod(
  configuredMethod: 'default_post' | 'basic_auth_header' | undefined,
  supportedMethods: readonly string[] | null,
): 'client_secret_basic' | 'client_secret_post' {
  if (configuredMethod === 'default_post') return 'client_secret_post';
  if (configuredMethod === 'basic_auth_header' || !supportedMethods) return 'client_secret_basic';
  if (supportedMethods.includes('client_secret_basic')) return 'client_secret_basic';
  return supportedMethods.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';
}

/** Reads the file for each use, so that a replaced key takes effect immediately. */
async function readPrivateKey(file: string, readKeyFile: ReadKeyFile): Promise<KeyObject> {
  try {
    return createPrivateKey(await readKeyFile(file));
  } catch {
    // The original error may quote the key.
    throw new SignInImpossible('client_key_unusable');
  }
}
