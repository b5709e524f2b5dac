import { HiddenText, type Fetch } from '@behalf/kernel';
import { userIdOfHolder } from '../../credentials/credentialHolder.ts';
import type { GrantBinding, GrantContext, GrantContexts } from '../../credentials/oauth/grantContext.ts';
import type { ClientAuthentication } from '../../credentials/oauth/oauthClient.ts';
import type { CredentialEndpoints, UserStore } from '../../ports/index.ts';
import type { JsonDocument } from './fetchDocument.ts';
import type { OpenIdSettings } from './openIdSettings.ts';
import type { ProviderMetadata, ProviderMetadataSource } from './providerMetadata.ts';

export interface LoginContextParts {
  readonly settings: Pick<OpenIdSettings, 'issuer' | 'clientId' | 'clientSecret'>;
  readonly metadata: ProviderMetadataSource;
  readonly users: Pick<UserStore, 'findById'>;
  /** To the provider: refuses redirects. */
  readonly fetch: Fetch;
}

/** How the tokens of sign-ins are renewed: at the provider, as the client that signed people in. */
export function createLoginContexts({ settings, metadata, users, fetch }: LoginContextParts): GrantContexts {
  return {
    async resolve(record) {
      const userId = userIdOfHolder(record.principal);
      const account = userId === undefined ? null : await users.findById(userId);
      // What was given for another subject, or to another client, is not this account's.
      if (account?.tenant !== record.tenant || account.issuer !== settings.issuer) return 'unbound';
      const { clientSecret } = settings;
      return {
        binding: loginBinding({
          issuer: settings.issuer,
          subject: account.subject,
          clientId: settings.clientId,
        }),
        client: {
          clientId: settings.clientId ?? '',
          source: 'configured',
          auth: { method: 'none' },
        },
        ...(clientSecret !== null && {
          loadClientAuth: async () => toClientProof(clientSecret, (await metadata.current()).document),
        }),
        fetch,
        headers: {},
        form: {},
        profile: { rotationGraceMs: 0, revokeOnReplace: 'never' },
        rediscover: async () => loginEndpoints(await metadata.refresh(), record.issuedAt),
        reregister: async () => false,
      } satisfies GrantContext;
    },
  };
}

/** In the place of an address: whom it speaks of. */
export function loginBinding(login: {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId: string | null;
}): GrantBinding {
  return {
    canonicalUrl: `login:${login.subject}`,
    issuer: login.issuer,
    clientId: login.clientId ?? '',
    resource: null,
  };
}

export function loginEndpoints({ document }: ProviderMetadata, fetchedAt: number): CredentialEndpoints {
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    token: text(document.token_endpoint) ?? '',
    revocation: text(document.revocation_endpoint),
    authorization: text(document.authorization_endpoint),
    fetchedAt,
  };
}

/** The body first where both are offered, as at the sign-in itself. */
function toClientProof(
  secret: string,
  { token_endpoint_auth_methods_supported: supported }: JsonDocument,
): ClientAuthentication {
  const methods: readonly unknown[] = Array.isArray(supported) ? supported : ['client_secret_basic'];
  const method = methods.includes('client_secret_post') ? 'client_secret_post' : 'client_secret_basic';
  return { method, secret: new HiddenText(secret) };
}
