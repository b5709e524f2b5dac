import type { OAuthClientKey } from '../../../ports/index.ts';
import type { AuthorizationServer } from '../discovery/authorizationServer.ts';
import type { OAuthClient } from '../oauthClient.ts';
import { SignInImpossible } from '../signInProblem.ts';
import type { SignInTarget } from '../signInTarget.ts';
import { asDraft, clientAddresses, type ClientAddresses } from './clientAddresses.ts';
import { configuredClient, type ReadText } from './configuredClient.ts';
import type { DocumentKey } from './documentKey.ts';
import type { DynamicClients } from './dynamicClients.ts';

export interface OAuthClients {
  /** Whom we are at this authorization server, for a sign-in that begins. */
  obtain(of: ClientUse, scopes: string): Promise<OAuthClient>;
  /**
   * The one with which something was obtained, as it is now. With another id where that one is ours no more: then what the
   * definition names, or whom we are registered as, and nobody where we are not.
   */
  now(of: ClientUse, clientId: string): Promise<OAuthClient>;
  /**
   * The one with this id was refused: another is registered in its place. False for what is configured, which stays, and where
   * nobody registers us. Rejects while that cannot be done; the one that was refused stays then.
   */
  renew(of: ClientUse, client: Pick<OAuthClient, 'clientId' | 'source'>, scopes: string): Promise<boolean>;
  /** It was refused. True for one that can be registered anew: it is forgotten. What is configured never is. */
  forget(
    of: Pick<ClientUse, 'tenant' | 'target' | 'issuer'>,
    client: Pick<OAuthClient, 'clientId' | 'source'>,
  ): Promise<boolean>;
  addresses(target: SignInTarget): ClientAddresses;
}

/** For whom: a registration belongs to one tenant's server at one issuer. */
export interface ClientUse {
  readonly tenant: string;
  readonly target: SignInTarget;
  readonly issuer: string;
  readonly as: Pick<AuthorizationServer, 'authMethods'> & Partial<AuthorizationServer>;
}

export interface OAuthClientsParts {
  readonly base: () => string;
  readonly readText: ReadText;
  readonly dynamic: DynamicClients;
  readonly documentKey: DocumentKey;
  /** Where our documents stand, when that is not below `base`. */
  readonly addresses?: (target: SignInTarget) => ClientAddresses;
}

/** The definition's own client, else our document, else one that is registered. */
export function createOAuthClients(parts: OAuthClientsParts): OAuthClients {
  const { base, readText, dynamic, documentKey } = parts;
  const addresses = parts.addresses ?? (({ server }: SignInTarget) => clientAddresses(base(), server));

  const keyOf = ({
    tenant,
    target,
    issuer,
  }: Pick<ClientUse, 'tenant' | 'target' | 'issuer'>): OAuthClientKey => ({
    tenant,
    serverId: target.server.id,
    issuer,
    redirectUri: addresses(target).redirectUri,
  });

  /**
   * What was given before the server was saved was given to the client of its draft, which comes back to another address. It is renewed
   * as that client, for as long as it lasts; whoever signs in now does so as the server's own.
   */
  function ofDraft<U extends Pick<ClientUse, 'target'>>(of: U): U | undefined {
    const { server } = of.target;
    return server.source === 'user'
      ? { ...of, target: { ...of.target, server: asDraft(server) } }
      : undefined;
  }

  async function registered(of: ClientUse, clientId: string): Promise<OAuthClient | null> {
    const own = await dynamic.find(keyOf(of));
    if (own?.clientId === clientId) return own;
    const draft = ofDraft(of);
    const drafted = draft && (await dynamic.find(keyOf(draft)));
    return drafted?.clientId === clientId ? drafted : own;
  }

  async function forgetDrafted(of: Pick<ClientUse, 'tenant' | 'target' | 'issuer'>, clientId: string) {
    const draft = ofDraft(of);
    if (draft) await dynamic.forget(keyOf(draft), clientId);
  }

  async function byDocument(target: SignInTarget, clientId: string | null): Promise<OAuthClient | null> {
    const { document, publicDocument } = addresses(target);
    if (clientId === null) return null;
    if (clientId === publicDocument) return { clientId, source: 'document', proof: { method: 'none' } };
    if (clientId !== document) return null;
    const { key, kid } = await documentKey.current();
    return { clientId, source: 'document', proof: { method: 'private_key_jwt', key, alg: 'ES256', kid } };
  }

  /** Which of the two documents an authorization server can work with. */
  function documentFor({ target, as }: ClientUse): string | null {
    if (as.readsClientDocuments !== true) return null;
    const { document, publicDocument } = addresses(target);
    return as.authMethods?.includes('private_key_jwt') ? document : publicDocument;
  }

  return {
    addresses,
    async obtain(of, scopes) {
      const { target, as } = of;
      const own = await configuredClient(target, as, readText);
      if (own) return own;
      const documented = await byDocument(target, documentFor(of));
      if (documented) return documented;
      if (!isWhole(as) || as.registrationEndpoint === null) throw new SignInImpossible('no_client');
      return dynamic.obtain(keyOf(of), target, as, scopes);
    },
    async now(of, clientId) {
      const own = await configuredClient(of.target, of.as, readText);
      // What the definition names takes the place of whatever else we were.
      if (own) return own;
      const drafted = ofDraft(of)?.target;
      const documented =
        (await byDocument(of.target, clientId)) ?? (drafted && (await byDocument(drafted, clientId)));
      return documented ?? (await registered(of, clientId)) ?? nobody;
    },
    async renew(of, { clientId, source }, scopes) {
      const { target, as } = of;
      if (source !== 'dynamic' || !isWhole(as) || as.registrationEndpoint === null) return false;
      await dynamic.renew(keyOf(of), clientId, target, as, scopes);
      await forgetDrafted(of, clientId);
      return true;
    },
    async forget(of, { clientId, source }) {
      if (source !== 'dynamic') return false;
      await dynamic.forget(keyOf(of), clientId);
      await forgetDrafted(of, clientId);
      return true;
    },
  };
}

/** No authorization server gives out such an id. */
const nobody: OAuthClient = { clientId: '', source: 'dynamic', proof: { method: 'none' } };

function isWhole(as: ClientUse['as']): as is AuthorizationServer {
  return as.tokenEndpoint !== undefined && as.registrationEndpoint !== undefined;
}
