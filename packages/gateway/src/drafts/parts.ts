import type { ConfigureParts } from '../configure/parts.ts';
import type { ListDefinitionParts } from '../configure/listDefinitionTools.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { OAuthFlows } from '../credentials/oauth/flows/createOAuthFlows.ts';
import type { AttemptCounter, CredentialStore } from '../ports/index.ts';
import type { ServerDrafts } from './drafts.ts';

/** What looking at a server that nobody saved needs. */
export interface DiscoverParts extends Omit<ConfigureParts, 'inspect'>, ListDefinitionParts {
  readonly drafts: ServerDrafts;
  readonly flows: Pick<OAuthFlows, 'start'>;
  readonly credentials: Credentials;
  readonly records: Pick<CredentialStore, 'find'>;
  readonly attempts: AttemptCounter;
}
