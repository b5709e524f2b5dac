import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { Audit } from '../../../audit/audit.ts';
import type {
  AttemptCounter,
  ChangeFeed,
  CredentialKey,
  CredentialStore,
  OAuthFlowStore,
} from '../../../ports/index.ts';
import type { UserPrincipal } from '../../../principal/principal.ts';
import type { ServerSnapshot } from '../../../registry/server.ts';
import type { Log } from '../../../upstream/parts.ts';
import type { WireToken } from '../../../upstream/target.ts';
import type { Dpop } from '../../dpop/dpop.ts';
import type { CredentialVault } from '../../vault/vault.ts';
import type { OAuthDiscovery } from '../discovery/discovery.ts';
import type { OAuthNetwork } from '../oauthNetwork.ts';
import type { OAuthClients } from '../registration/clients.ts';
import type { SignInServers } from '../signInServers.ts';
import type { ProbeResult } from './flowPayload.ts';

/** Sign-ins that may be pending at once. */
export const FLOW_LIMITS = { perUser: 5, perTenant: 200 } as const;
/** From the callback to the end: the exchange, storing and a look at the server, with room to spare. */
export const MAX_EXCHANGE_MS = 60 * 1000;

/** How long a sign-in may take, and for how long after its beginning it is told of. */
export interface FlowDurations {
  readonly pendingMs: number;
  readonly retentionMs: number;
}

export interface OAuthFlowParts {
  readonly flows: OAuthFlowStore;
  readonly credentials: Pick<CredentialStore, 'find' | 'list'>;
  readonly vault: Pick<CredentialVault, 'commit' | 'find' | 'makeDefault' | 'remove'>;
  readonly servers: SignInServers;
  readonly discovery: OAuthDiscovery;
  readonly clients: OAuthClients;
  readonly network: OAuthNetwork;
  readonly dpop: Dpop;
  readonly attempts: AttemptCounter;
  readonly changes: Pick<ChangeFeed, 'publish' | 'subscribe'>;
  readonly audit: Pick<Audit, 'note'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: Random;
  readonly durations: FlowDurations;
  readonly log: Log;
  /** Under which address people reach us. */
  readonly baseUrl: () => string;
  readonly probe: TokenProbe;
}

/** A token that a user was just given, or brings. */
export interface NewToken {
  readonly key: CredentialKey;
  readonly token: WireToken;
  /** The only address that it may be presented to. */
  readonly canonicalUrl: string;
}

/** Asks the server with this very token. `unverified`: it also answers without one. */
export type TokenProbe = (
  server: ServerSnapshot,
  principal: UserPrincipal,
  token: NewToken,
) => Promise<ProbeResult>;
