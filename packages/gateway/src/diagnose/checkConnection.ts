import { ReauthNeeded, SignInRequired } from '../credentials/signInRequired.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { mayRequireOAuth } from '../definitions/definition.ts';
import { type PreparedTarget, prepareCredential } from '../toolcall/credential.ts';
import { loadTools } from '../toolcall/list.ts';
import type { ToolList } from '../tools/catalog.ts';
import { decideTool } from '../tools/policy.ts';
import type { Bearer } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { explainSignInReason } from './checkCredential.ts';
import { type StepFinding, type StepResult, failed, ok, skipped, warning } from './checklist.ts';
import type { DiagnoseParts, DiagnosisContext } from './diagnose.ts';

/**
 * Lists the tools like a call: with the user's credential over a pooled connection, even if the circuit breaker is open.
 * The value is the finding of the `tools` step.
 */
export async function checkConnection(
  parts: DiagnoseParts,
  context: DiagnosisContext,
  prepared: PreparedTarget | undefined,
  signal: AbortSignal,
): Promise<StepResult<StepFinding>> {
  const { server } = context;
  const inbound = { ...context.inbound, signal };
  const bypass = { bypassesBreaker: true };
  try {
    const obtain = async () =>
      withoutRecovery(prepared ?? (await prepareCredential(parts, server, inbound, bypass)));
    const list = await loadTools(parts, server, obtain, inbound, { refresh: true, lease: bypass });
    return {
      finding: ok('The server accepts the credential that is presented for you.'),
      value: countTools(parts, context, list),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { finding: toFinding(error, context) };
  }
}

function toFinding(error: unknown, { server }: DiagnosisContext): StepFinding {
  if (error instanceof SignInRequired) {
    return failed('MCP_AUTHORIZATION_REQUIRED', explainSignInReason(error.reason));
  }
  if (error instanceof ReauthNeeded) return failed(error.detail.code);
  if (error instanceof GatewayError && error.code === 'REQUEST_INVALID') {
    return skipped(
      'The definition uses fields of a chat request: the gateway connects with the first request of a chat.',
    );
  }
  if (!(error instanceof UpstreamError)) throw error;
  const { reason, code } = error;
  if (reason === 'unauthorized') return toRejectedFinding(server);
  if (reason === 'forbidden') {
    return failed(code, 'The server recognizes the credential but denies access (403).');
  }
  if (reason === 'insufficient_scope') {
    return failed(
      code,
      'The server requires more scopes than the token has (403).',
      'Connect the server again.',
    );
  }
  return failed(code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code);
}

/** Explains a 401 by the kind of credential that the server received. */
function toRejectedFinding(server: DiagnosisContext['server']): StepFinding {
  const code = 'MCP_CREDENTIAL_REJECTED';
  if (server.scope === 'user' && server.auth === 'obo') {
    return failed(
      code,
      'The server rejected the exchanged token (401).',
      'Ask the operator to check scopes and audience.',
    );
  }
  if (server.scope === 'user' && server.auth === 'userVars') {
    return failed(code, 'The server rejected the values that you entered (401).', 'Enter them again.');
  }
  if (mayRequireOAuth(server)) {
    return failed(
      code,
      'The server rejected the token, or requires one (401).',
      'A call would renew the token once. If it is rejected again, connect the server again.',
    );
  }
  return failed(
    code,
    'The server rejected the credential in its definition (401).',
    'Ask the owner of the definition to check the key.',
  );
}

/** Counts the tools that the policy makes available to the user. Hidden tools are counted, not named. */
function countTools(
  { policy }: DiagnoseParts,
  { server, principal }: DiagnosisContext,
  { tools }: ToolList,
): StepFinding {
  const current = policy();
  const decisions = tools.map((tool) => decideTool(current, principal, server, tool));
  const hiddenCount = decisions.filter((decision) => decision === 'absent').length;
  const approvalCount = decisions.filter((decision) => decision === 'ask').length;
  const visibleCount = tools.length - hiddenCount;
  const countText =
    visibleCount === 1
      ? 'You can use one tool'
      : `You can use ${visibleCount === 0 ? 'no' : visibleCount} tools`;
  const approvalText = approvalCount > 0 ? `; need approval: ${approvalCount}` : '';
  const hiddenText = hiddenCount > 0 ? `; hidden by the policy: ${hiddenCount}` : '';
  const text = `${countText}${approvalText}${hiddenText}.`;
  if (visibleCount > 0) return ok(text);
  return hiddenCount > 0
    ? warning(text, 'Ask an administrator to check the policy.')
    : warning(text, 'The server offers no tools to you. Check your permissions at the server.');
}

/** The same target with tokens that are never renewed after a 401, so that a diagnosis changes no credential. */
function withoutRecovery(prepared: PreparedTarget): PreparedTarget {
  if (!('holder' in prepared)) {
    return prepared.bearer
      ? { ...prepared, bearer: { ...prepared.bearer, ...withoutRenewal(prepared.bearer) } }
      : prepared;
  }
  const { holder } = prepared;
  const { target } = holder;
  if (target.type === 'stdio' || !target.bearer) return prepared;
  return { ...prepared, holder: { ...holder, target: { ...target, bearer: withoutRenewal(target.bearer) } } };
}

/** Copies each field explicitly: the other methods of a bearer react to a rejected token. */
function withoutRenewal(bearer: Bearer): Bearer {
  return {
    extension: bearer.extension,
    token: () => bearer.token(),
    renew: () => Promise.resolve(false),
    hasRenewed: () => bearer.hasRenewed(),
    presentedTokens: () => bearer.presentedTokens(),
  };
}
