import type { DiagnosisView } from '@behalf/contracts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { PreparedTarget } from '../toolcall/obtainCredential.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { resolveUnauthenticatedTarget, type DiagnosisTarget } from './unauthenticatedTarget.ts';
import { createChecklist, type Checklist, type StepName } from './checklist.ts';
import { checkConnection } from './checkConnection.ts';
import { checkCredential } from './checkCredential.ts';
import { checkExchange, checkTrust, requiresExchange } from './checkExchange.ts';
import { checkAddress, checkDns, checkSocket } from './checkNetwork.ts';
import { checkPolicy } from './checkPolicy.ts';
import { checkScopes } from './checkScopes.ts';
import { checkServerResponse } from './checkServerResponse.ts';
import { createSignInCheck, resolveSignInHolder } from './checkSignIn.ts';
import { checkVariables } from './checkVariables.ts';
import type { DiagnosisContext, DiagnoseParts } from './parts.ts';

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
