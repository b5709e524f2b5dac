import { type DiagnosisView, hasAclBit } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import { type AllowedServer, checkAccess, resolveServer } from '../access/allowedServer.ts';
import type { OboTargets } from '../access/oboTargets.ts';
import type { CredentialSelector } from '../credentials/credentialSelector.ts';
import type { OAuthClients } from '../credentials/oauth/clients.ts';
import type { OAuthDiscovery } from '../credentials/oauth/discovery.ts';
import type { SignInServers } from '../credentials/oauth/signInTarget.ts';
import type { UserVariables } from '../credentials/variables/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../servers/definition.ts';
import { getViewerRights } from '../servers/view.ts';
import type { PreparedTarget } from '../toolcall/credential.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { LoadToolsParts } from '../toolcall/list.ts';
import type { SendParts } from '../toolcall/send.ts';
import type { PolicyParts } from '../tools/policy.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import type { Log } from '../upstream/upstream.ts';
import { checkConnection } from './checkConnection.ts';
import {
  checkCredential,
  checkExchange,
  checkTrust,
  checkVariables,
  requiresExchange,
} from './checkCredential.ts';
import {
  type DiagnosisTarget,
  checkAddress,
  checkDns,
  checkServerResponse,
  checkSocket,
  resolveUnauthenticatedTarget,
} from './checkNetwork.ts';
import { checkScopes, createSignInCheck, resolveSignInHolder } from './checkSignIn.ts';
import { type Checklist, type StepFinding, type StepName, createChecklist, failed, ok } from './checklist.ts';

export interface DiagnosisInbound extends Inbound {
  readonly principal: UserPrincipal;
  /** Somebody else asks about this user: nothing of theirs goes anywhere, no token, no key and no value. */
  readonly isForOtherUser?: boolean;
}

const OTHER_USER_REASON = 'A diagnosis does not use credentials of other users.';

const stepsAfterPolicy: readonly StepName[] = [
  'variables',
  'address',
  'dns',
  'tls',
  'server',
  'metadata',
  'authorization_server',
  'client',
  'credential',
  'scopes',
  'trust',
  'exchange',
  'connection',
  'tools',
];

/**
 * Why a call of this user does or does not work, step by step along the way that a call takes. It begins no sign-in and stores
 * nothing: a refusal that is met here changes no credential. What it says is ours: no text of a server, no token, and an address
 * only to who may see it.
 */
export async function diagnose(
  originalParts: DiagnoseParts,
  serverName: string,
  inbound: DiagnosisInbound,
): Promise<DiagnosisView> {
  const parts = inbound.isForOtherUser ? withoutUserValues(originalParts) : originalParts;
  const checklist = createChecklist(parts, serverName, inbound.signal);
  let diagnosisContext: DiagnosisContext | undefined;
  await checklist.runStep('policy', async () => {
    const { finding, context } = checkPolicy(parts, serverName, inbound);
    diagnosisContext = context;
    return finding;
  });
  if (diagnosisContext) await runSteps(parts, checklist, diagnosisContext);
  // Alike for what is forbidden and for what does not exist.
  else checklist.skip(stepsAfterPolicy, 'There is no server with this name that you may use.');
  return checklist.view();
}

/** An address or a header that takes a value of the user is then one that is not known. */
function withoutUserValues(parts: DiagnoseParts): DiagnoseParts {
  return { ...parts, signIn: { ...parts.signIn, servers: { readHolderValues: async () => ({}) } } };
}

async function runSteps(
  parts: DiagnoseParts,
  checklist: Checklist,
  context: DiagnosisContext,
): Promise<void> {
  let target: DiagnosisTarget = 'not_known';
  const variablesFinding = await checklist.runStep('variables', async () => {
    target = await resolveUnauthenticatedTarget(parts, context);
    return checkVariables(parts, context);
  });
  const network = await checkNetwork(parts, checklist, context, target);
  const credentialResult = await checkUserCredential(parts, checklist, context, network);
  const missingValuesReason =
    variablesFinding.outcome === 'failed' ? 'Some of your values are missing.' : undefined;
  await checkCall(
    parts,
    checklist,
    context,
    missingValuesReason ?? network.blockedReason ?? credentialResult.blockedReason,
  );
}

interface NetworkResult {
  /** Why nothing can be asked of the server. */
  readonly blockedReason?: string | undefined;
  readonly signIn: ReturnType<typeof createSignInCheck> | undefined;
}

/** From here to the server, and what it says to nobody in particular. */
async function checkNetwork(
  parts: DiagnoseParts,
  checklist: Checklist,
  context: DiagnosisContext,
  target: DiagnosisTarget,
): Promise<NetworkResult> {
  const networkSteps: readonly StepName[] = ['address', 'dns', 'tls', 'server'];
  const signInSteps: readonly StepName[] = ['metadata', 'authorization_server', 'client'];
  if (target === 'process' || target === 'not_known') {
    const reason =
      target === 'process'
        ? 'The server runs as a process of this gateway.'
        : 'The server address contains values that are missing or that only a chat request provides.';
    checklist.skip([...networkSteps, ...signInSteps], reason);
    return { signIn: undefined };
  }
  const reachability = await checkReachability(parts, checklist, context, target);
  if (reachability.blockedReason !== undefined) {
    checklist.skip(
      networkSteps.slice(reachability.stepCount),
      `Not tried: ${lowercaseFirst(reachability.blockedReason)}`,
    );
    checklist.skip(signInSteps, `Not tried: ${lowercaseFirst(reachability.blockedReason)}`);
    return { blockedReason: reachability.blockedReason, signIn: undefined };
  }
  const { challenge, allowsAnonymous } = reachability;
  const holder = resolveSignInHolder(context, allowsAnonymous);
  if (holder === undefined) {
    checklist.skip(signInSteps, 'This server does not use a sign-in.');
    return { signIn: undefined };
  }
  const signIn = createSignInCheck(parts, context, holder, challenge);
  const metadataFinding = await checklist.runStep('metadata', () => signIn.checkMetadata());
  if (metadataFinding.outcome === 'failed') {
    checklist.skip(signInSteps.slice(1), 'Not tried: the authorization server is not known.');
    return { signIn };
  }
  const issuerFinding = await checklist.runStep('authorization_server', async () =>
    signIn.checkAuthorizationServer(),
  );
  if (issuerFinding.outcome === 'failed')
    checklist.skip('client', 'Not tried: this authorization server is not allowed.');
  else await checklist.runStep('client', () => signIn.checkClient());
  return { signIn };
}

interface Reachability {
  readonly blockedReason?: string;
  /** How many looks it took. */
  readonly stepCount: number;
  readonly challenge?: Awaited<ReturnType<typeof checkServerResponse>>['challenge'];
  readonly allowsAnonymous: boolean;
}

async function checkReachability(
  parts: DiagnoseParts,
  checklist: Checklist,
  context: DiagnosisContext,
  target: RemoteTarget,
): Promise<Reachability> {
  const addressFinding = await checklist.runStep('address', () => checkAddress(parts, context, target));
  if (addressFinding.outcome === 'failed')
    return { blockedReason: addressFinding.message, stepCount: 1, allowsAnonymous: false };
  const dnsFinding = await checklist.runStep('dns', (signal) => checkDns(parts, context, target, signal));
  if (dnsFinding.outcome === 'failed')
    return { blockedReason: dnsFinding.message, stepCount: 2, allowsAnonymous: false };
  const socketFinding = await checklist.runStep('tls', (signal) =>
    checkSocket(parts, context, target, signal),
  );
  if (socketFinding.outcome === 'failed')
    return { blockedReason: socketFinding.message, stepCount: 3, allowsAnonymous: false };
  let serverCheck: Awaited<ReturnType<typeof checkServerResponse>> | undefined;
  const serverFinding = await checklist.runStep('server', async (signal) => {
    serverCheck = await checkServerResponse(parts, context, target, signal);
    return serverCheck.finding;
  });
  const { challenge, allowsAnonymous = false } = serverCheck ?? {};
  const common = { stepCount: 4, allowsAnonymous, ...(challenge && { challenge }) };
  return serverFinding.outcome === 'failed' ? { ...common, blockedReason: serverFinding.message } : common;
}

/** What this user would present there. */
async function checkUserCredential(
  parts: DiagnoseParts,
  checklist: Checklist,
  context: DiagnosisContext,
  { signIn }: NetworkResult,
): Promise<{ readonly blockedReason?: string }> {
  let credentialCheck: Awaited<ReturnType<typeof checkCredential>> | undefined;
  const credentialFinding = await checklist.runStep('credential', async () => {
    credentialCheck = await checkCredential(parts, context);
    return credentialCheck.finding;
  });
  const summary = credentialCheck?.summary;
  const discovered = signIn?.getDiscoveredSignIn();
  if (summary && discovered) {
    await checklist.runStep('scopes', async () => checkScopes(summary, discovered));
  } else {
    checklist.skip(
      'scopes',
      summary
        ? 'The scopes that the server requires are not known.'
        : 'There is no sign-in to compare the scopes with.',
    );
  }
  return credentialFinding.outcome === 'failed' ? { blockedReason: credentialFinding.message } : {};
}

/** The call itself, up to the list of tools. */
async function checkCall(
  parts: DiagnoseParts,
  checklist: Checklist,
  context: DiagnosisContext,
  blockedReason: string | undefined,
): Promise<void> {
  let prepared: PreparedTarget | undefined;
  let reason = blockedReason ?? (context.isForOtherUser ? OTHER_USER_REASON : undefined);
  if (requiresExchange(context)) {
    const trustFinding = await checklist.runStep('trust', () => checkTrust(parts, context));
    if (trustFinding.outcome === 'failed') reason ??= trustFinding.message;
    if (reason !== undefined) checklist.skip('exchange', `Not tried: ${lowercaseFirst(reason)}`);
    else {
      const exchangeFinding = await checklist.runStep('exchange', async (signal) => {
        const { finding, prepared: preparedTarget } = await checkExchange(parts, context, signal);
        prepared = preparedTarget;
        return finding;
      });
      if (exchangeFinding.outcome === 'failed') reason = exchangeFinding.message;
    }
  } else checklist.skip(['trust', 'exchange'], 'No token is exchanged for this server.');
  if (reason !== undefined) {
    checklist.skip(['connection', 'tools'], `Not tried: ${lowercaseFirst(reason)}`);
    return;
  }
  let tools: Awaited<ReturnType<typeof checkConnection>>['tools'];
  await checklist.runStep('connection', async (signal) => {
    const connectionCheck = await checkConnection(parts, context, prepared, signal);
    tools = connectionCheck.tools;
    return connectionCheck.finding;
  });
  const toolsFinding = tools;
  if (toolsFinding) await checklist.runStep('tools', async () => toolsFinding);
  else checklist.skip('tools', 'The tool list is not available.');
}

function lowercaseFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

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

/** Whether this user may use the server at all; `of` only then. */
function checkPolicy(
  parts: DiagnoseParts,
  name: string,
  inbound: DiagnosisInbound,
): { readonly finding: StepFinding; readonly context?: DiagnosisContext } {
  const { principal } = inbound;
  const resolved = resolveServer(parts.registry, principal, name);
  try {
    const server = checkAccess(parts, principal, resolved, 'MCP_SERVER_NOT_FOUND');
    const { isEditor } = getViewerRights(principal, server, parts.getManageBits(principal, server));
    return {
      finding: ok('Your role may use servers, and this server is shared with you.'),
      context: {
        server,
        principal,
        inbound,
        canSeeAddresses: isEditor,
        isForOtherUser: inbound.isForOtherUser ?? false,
      },
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.code === 'MCP_FORBIDDEN') {
      return { finding: failed(error.code, 'Your role may not use servers.') };
    }
    if (error.code !== 'MCP_SERVER_NOT_FOUND') throw error;
    // Who looks after it knows that it is there.
    const canManage = resolved !== undefined && hasAclBit(parts.getManageBits(principal, resolved), 'VIEW');
    return {
      finding: canManage
        ? failed(
            error.code,
            'You can manage this server, but it is not shared with you for use.',
            'Share it with yourself.',
          )
        : failed(
            error.code,
            'There is no server with this name that you may use.',
            'Check the name; if it is right, ask its owner to share it with you.',
          ),
    };
  }
}
