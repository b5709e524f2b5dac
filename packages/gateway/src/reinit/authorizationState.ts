import type { ServerStatus } from '@behalf/contracts';
import { credentialHolder } from '../credentials/credentialHolder.ts';
import type { OAuthServices } from '../credentials/oauth/createOAuthServices.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { UserServer } from '../registry/server.ts';

export interface AuthorizationParts {
  readonly oauth: { readonly flows: Pick<OAuthServices['flows'], 'isPending'> };
  readonly vault: Pick<CredentialVault, 'list'>;
}

/** How things stand with a user's sign-in at a server. One that works counts, also while another is under way. */
export async function getAuthorizationState(
  { oauth, vault }: AuthorizationParts,
  { id }: UserServer,
  principal: UserPrincipal,
): Promise<ServerStatus['authorizationState']> {
  const credentials = await vault.list(principal.tenant, credentialHolder(principal), id);
  if (credentials.some(({ status }) => status === 'active')) return 'authorized';
  return (await oauth.flows.isPending(id, principal)) ? 'authorizing' : 'needs_authorization';
}
