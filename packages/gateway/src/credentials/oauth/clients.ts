import { type KeyObject, createPrivateKey } from 'node:crypto';
import type { OAuthClientKey } from '../../ports/index.ts';
import type { ClientAuthentication, OAuthClient } from './clientAuthentication.ts';
import { type ClientUrls, type DocumentKey, asDraft, buildClientUrls } from './clientDocument.ts';
import type { AuthorizationServerMetadata } from './metadata.ts';
import type { DynamicClients } from './registration.ts';
import { SignInImpossible, type SignInTarget } from './signInTarget.ts';

export interface OAuthClients {
  /** Whom we are at this authorization server, for a sign-in that begins. */
  obtain(use: ClientUse, scopes: string): Promise<OAuthClient>;
  /**
   * The one with which something was obtained, as it is now. With another id where that one is ours no more: then what the
   * definition names, or whom we are registered as, and nobody where we are not.
   */
  resolveClient(use: ClientUse, clientId: string): Promise<OAuthClient>;
  /**
   * The one with this id was refused: another is registered in its place. False for what is configured, which stays, and where
   * nobody registers us. Rejects while that cannot be done; the one that was refused stays then.
   */
  reregister(
    use: ClientUse,
    client: Pick<OAuthClient, 'clientId' | 'source'>,
    scopes: string,
  ): Promise<boolean>;
  /** It was refused. True for one that can be registered anew: it is forgotten. What is configured never is. */
  forget(
    use: Pick<ClientUse, 'tenant' | 'target' | 'issuer'>,
    client: Pick<OAuthClient, 'clientId' | 'source'>,
  ): Promise<boolean>;
  clientUrls(target: SignInTarget): ClientUrls;
}

/** For whom: a registration belongs to one tenant's server at one issuer. */
export interface ClientUse {
  readonly tenant: string;
  readonly target: SignInTarget;
  readonly issuer: string;
  readonly asMetadata: Pick<AuthorizationServerMetadata, 'authMethods'> &
    Partial<AuthorizationServerMetadata>;
}

interface OAuthClientsParts {
  readonly baseUrl: () => string;
  readonly readText: ReadKeyFile;
  readonly dynamic: DynamicClients;
  readonly documentKey: DocumentKey;
  /** Where our documents stand, when that is not below `base`. */
  readonly clientUrls?: (target: SignInTarget) => ClientUrls;
}

/** The definition's own client, else our document, else one that is registered. */
export function createOAuthClients(parts: OAuthClientsParts): OAuthClients {
  const { baseUrl, readText, dynamic, documentKey } = parts;
  const clientUrls = parts.clientUrls ?? (({ server }: SignInTarget) => buildClientUrls(baseUrl(), server));

  const keyOf = ({
    tenant,
    target,
    issuer,
  }: Pick<ClientUse, 'tenant' | 'target' | 'issuer'>): OAuthClientKey => ({
    tenant,
    serverId: target.server.id,
    issuer,
    redirectUri: clientUrls(target).redirectUri,
  });

  /**
   * What was given before the server was saved was given to the client of its draft, which comes back to another address. It is renewed
   * as that client, for as long as it lasts; whoever signs in now does so as the server's own.
   */
  function toDraftUse<U extends Pick<ClientUse, 'target'>>(use: U): U | undefined {
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

  async function forgetDraftClient(use: Pick<ClientUse, 'tenant' | 'target' | 'issuer'>, clientId: string) {
    const draftUse = toDraftUse(use);
    if (draftUse) await dynamic.forget(keyOf(draftUse), clientId);
  }

  async function findDocumentClient(
    target: SignInTarget,
    clientId: string | null,
  ): Promise<OAuthClient | null> {
    const { documentUrl, publicDocumentUrl } = clientUrls(target);
    if (clientId === null) return null;
    if (clientId === publicDocumentUrl) return { clientId, source: 'document', auth: { method: 'none' } };
    if (clientId !== documentUrl) return null;
    const { key, kid } = await documentKey.current();
    return { clientId, source: 'document', auth: { method: 'private_key_jwt', key, alg: 'ES256', kid } };
  }

  /** Which of the two documents an authorization server can work with. */
  function selectDocumentUrl({ target, asMetadata }: ClientUse): string | null {
    if (asMetadata.supportsClientDocuments !== true) return null;
    const { documentUrl, publicDocumentUrl } = clientUrls(target);
    return asMetadata.authMethods?.includes('private_key_jwt') ? documentUrl : publicDocumentUrl;
  }

  return {
    clientUrls,
    async obtain(use, scopes) {
      const { target, asMetadata } = use;
      const configured = await readConfiguredClient(target, asMetadata, readText);
      if (configured) return configured;
      const documentClient = await findDocumentClient(target, selectDocumentUrl(use));
      if (documentClient) return documentClient;
      if (!isComplete(asMetadata) || asMetadata.registrationEndpoint === null)
        throw new SignInImpossible('no_client');
      return dynamic.obtain(keyOf(use), target, asMetadata, scopes);
    },
    async resolveClient(use, clientId) {
      const configured = await readConfiguredClient(use.target, use.asMetadata, readText);
      // What the definition names takes the place of whatever else we were.
      if (configured) return configured;
      const draftTarget = toDraftUse(use)?.target;
      const documentClient =
        (await findDocumentClient(use.target, clientId)) ??
        (draftTarget && (await findDocumentClient(draftTarget, clientId)));
      return documentClient ?? (await findRegistered(use, clientId)) ?? unknownClient;
    },
    async reregister(use, { clientId, source }, scopes) {
      const { target, asMetadata } = use;
      if (source !== 'dynamic' || !isComplete(asMetadata) || asMetadata.registrationEndpoint === null)
        return false;
      await dynamic.reregister(keyOf(use), clientId, target, asMetadata, scopes);
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

/** No authorization server gives out such an id. */
const unknownClient: OAuthClient = { clientId: '', source: 'dynamic', auth: { method: 'none' } };

function isComplete(asMetadata: ClientUse['asMetadata']): asMetadata is AuthorizationServerMetadata {
  return asMetadata.tokenEndpoint !== undefined && asMetadata.registrationEndpoint !== undefined;
}

export type ReadKeyFile = (file: string) => Promise<string>;

/** The client that the definition names; undefined where it names none. */
async function readConfiguredClient(
  target: SignInTarget,
  asMetadata: Pick<AuthorizationServerMetadata, 'authMethods'>,
  readKeyFile: ReadKeyFile,
): Promise<OAuthClient | undefined> {
  const { clientId } = target.oauth;
  if (clientId === undefined) return undefined;
  return { clientId, source: 'configured', auth: await readClientAuth(target, asMetadata, readKeyFile) };
}

async function readClientAuth(
  { oauth, isOperatorDefined }: SignInTarget,
  { authMethods }: Pick<AuthorizationServerMetadata, 'authMethods'>,
  readKeyFile: ReadKeyFile,
): Promise<ClientAuthentication> {
  const { clientSecret: secret, raw } = oauth;
  if (raw.private_key_file !== undefined && isOperatorDefined) {
    const key = await readPrivateKey(raw.private_key_file, readKeyFile);
    const alg = raw.private_key_alg ?? defaultAlgorithm(key);
    return { method: 'private_key_jwt', key, alg, kid: raw.private_key_id };
  }
  if (secret === undefined) return { method: 'none' };
  return { method: selectSecretAuthMethod(raw.token_exchange_method, authMethods), secret };
}

/** The header is the default (RFC 8414, section 2): the form only where it is asked for, or the other is not taken. */
function selectSecretAuthMethod(
  configuredMethod: 'default_post' | 'basic_auth_header' | undefined,
  supportedMethods: readonly string[] | null,
): 'client_secret_basic' | 'client_secret_post' {
  if (configuredMethod === 'default_post') return 'client_secret_post';
  if (configuredMethod === 'basic_auth_header' || !supportedMethods) return 'client_secret_basic';
  if (supportedMethods.includes('client_secret_basic')) return 'client_secret_basic';
  return supportedMethods.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';
}

/** Read anew each time: a file that was replaced counts at once. */
async function readPrivateKey(file: string, readKeyFile: ReadKeyFile): Promise<KeyObject> {
  try {
    return createPrivateKey(await readKeyFile(file));
  } catch {
    // The error may quote what it could not parse.
    throw new SignInImpossible('client_key_unusable');
  }
}

function defaultAlgorithm(key: KeyObject): string {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return 'RS256';
    case 'rsa-pss':
      return 'PS256';
    case 'ec':
      return 'ES256';
    case 'ed25519':
      return 'EdDSA';
    default:
      throw new SignInImpossible('client_key_unusable');
  }
}
