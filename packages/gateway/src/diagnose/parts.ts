import type { Clock } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { OboTargets } from '../access/oboTargets.ts';
import type { CredentialSelector } from '../credentials/credentialSelector.ts';
import type { OAuthDiscovery } from '../credentials/oauth/discovery/discovery.ts';
import type { OAuthClients } from '../credentials/oauth/registration/clients.ts';
import type { SignInServers } from '../credentials/oauth/signInServers.ts';
import type { UserVariables } from '../credentials/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import type { PolicyParts } from '../policy/decideTool.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { SendParts } from '../toolcall/sendToServer.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { AllowedServer } from '../toolcall/checkAccess.ts';
import type { LoadToolsParts } from '../toolcall/loadTools.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { Log } from '../upstream/parts.ts';
import type { RemoteTarget } from '../upstream/target.ts';

/** Why an address is not called, or does not answer: what the door out knows, in a few words of ours. */
export type NetworkProblem =
  'not_allowed' | 'gateway_address' | 'dns' | 'proxy' | 'certificate' | 'connection' | 'timeout';

/** The door out, as far as a diagnosis looks through it. Every verdict is the one that a call would get. */
export interface DiagnosisNetwork {
  /** Whether it may be called, and whether its name is known. Null: both. */
  checkAddress(server: ServerSnapshot, target: RemoteTarget): Promise<NetworkProblem | null>;
  /** A connection, with the handshake of TLS where the address asks for it; closed again. Null: it works. */
  connect(target: RemoteTarget, signal: AbortSignal): Promise<NetworkProblem | null>;
}

export interface DiagnoseParts extends SendParts, LoadToolsParts, PolicyParts {
  readonly clock: Clock;
  readonly log: Log;
  /** What the caller may do with a server besides using it. */
  readonly getManageBits: Acl['getManageBits'];
  readonly variables: Pick<UserVariables, 'readSetFlags'>;
  readonly network: DiagnosisNetwork;
  /** Asks a server without any credential. */
  readonly open: OpenUpstream;
  readonly oboTargets: Pick<OboTargets, 'findProblem'>;
  readonly vault: Pick<CredentialVault, 'find' | 'withExclusiveUse'>;
  readonly credentialSelector: Pick<CredentialSelector, 'select'>;
  /** How users sign in at servers. None of it is begun here. */
  readonly signIn: {
    readonly servers: Pick<SignInServers, 'readHolderValues'>;
    readonly discovery: Pick<OAuthDiscovery, 'discover'>;
    readonly clients: Pick<OAuthClients, 'resolveClient' | 'clientUrls'>;
  };
}

/** Whom the diagnosis is about, once it is clear that they may use the server. */
export interface DiagnosisContext {
  readonly server: AllowedServer;
  readonly principal: UserPrincipal;
  readonly inbound: Inbound;
  /** Somebody else asks: see `DiagnosisInbound`. */
  readonly isForOtherUser: boolean;
  /** Whether addresses are theirs to see. */
  readonly canSeeAddresses: boolean;
}
