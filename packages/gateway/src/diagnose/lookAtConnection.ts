import { ReauthNeeded } from '../credentials/reauthNeeded.ts';
import { SignInRequired } from '../credentials/signInRequired.ts';
import type { ToolList } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { decideTool } from '../policy/decideTool.ts';
import { couldSignIn } from '../registry/couldSignIn.ts';
import { prepareCredential } from '../toolcall/sendToServer.ts';
import { loadTools } from '../toolcall/loadTools.ts';
import type { PreparedTarget } from '../toolcall/obtainCredential.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { explainReason } from './explainReason.ts';
import { failed, ok, skipped, warning, type Finding } from './checklist.ts';
import type { Case, DiagnoseParts } from './parts.ts';
import { withoutRecovery } from './withoutRecovery.ts';

export interface ConnectionLook {
  readonly finding: Finding;
  /** What became of its list of tools; absent where there is none. */
  readonly tools?: Finding;
}

/** Its tools, asked for as a call would ask: with this user's credential, past a breaker, over a connection that may be there. */
export async function lookAtConnection(
  parts: DiagnoseParts,
  of: Case,
  prepared: PreparedTarget | undefined,
  signal: AbortSignal,
): Promise<ConnectionLook> {
  const { server } = of;
  const inbound = { ...of.inbound, signal };
  try {
    const obtain = async () =>
      withoutRecovery(prepared ?? (await prepareCredential(parts, server, inbound, { explicit: true })));
    const list = await loadTools(parts, server, obtain, inbound, {
      refresh: true,
      lease: { explicit: true },
    });
    return {
      finding: ok('The server answers to what is presented in your name.'),
      tools: countTools(parts, of, list),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { finding: explain(error, of) };
  }
}

function explain(error: unknown, { server }: Case): Finding {
  if (error instanceof SignInRequired) {
    return failed('MCP_AUTHORIZATION_REQUIRED', explainReason(error.reason));
  }
  if (error instanceof ReauthNeeded) return failed(error.detail.code);
  if (error instanceof GatewayError && error.code === 'REQUEST_INVALID') {
    return skipped('It names fields of a chat: it is connected with the first request of one.');
  }
  if (!(error instanceof UpstreamError)) throw error;
  const { reason, code } = error;
  if (reason === 'unauthorized') return refused(server);
  if (reason === 'forbidden') {
    return failed(code, 'The server knows what is presented, and does not allow it (403).');
  }
  if (reason === 'insufficient_scope') {
    return failed(
      code,
      'The server wants a wider scope than the token has (403).',
      'Connect the server again.',
    );
  }
  return failed(code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code);
}

/** What a refused credential means depends on whose it is. */
function refused(server: Case['server']): Finding {
  const code = 'MCP_CREDENTIAL_REJECTED';
  if (server.scope === 'user' && server.auth === 'obo') {
    return failed(
      code,
      'The server refused the exchanged token (401).',
      'Ask the operator to check scopes and audience.',
    );
  }
  if (server.scope === 'user' && server.auth === 'userVars') {
    return failed(code, 'The server refused the values that you entered (401).', 'Enter them again.');
  }
  if (couldSignIn(server)) {
    return failed(
      code,
      'The server refused the token, or wants one (401).',
      'A call would renew the token once. If it is refused again, connect the server again.',
    );
  }
  return failed(
    code,
    'The server refused the credential of its definition (401).',
    'Ask who defined it to check the key.',
  );
}

/** How many there are for this user. Those that are hidden are counted, not named. */
function countTools({ policy }: DiagnoseParts, { server, principal }: Case, { tools }: ToolList): Finding {
  const current = policy();
  const verdicts = tools.map((tool) => decideTool(current, principal, server, tool));
  const hidden = verdicts.filter((verdict) => verdict === 'absent').length;
  const asking = verdicts.filter((verdict) => verdict === 'ask').length;
  const shown = tools.length - hidden;
  const besides = [
    ...(asking > 0 ? [`ask first: ${asking}`] : []),
    ...(hidden > 0 ? [`hidden by the policy: ${hidden}`] : []),
  ];
  const text = `${count(shown)}${besides.map((part) => `; ${part}`).join('')}.`;
  if (shown > 0) return ok(text);
  return hidden > 0
    ? warning(text, 'Ask an administrator whether the policy is meant so.')
    : warning(text, 'The server offers no tools to you: see what you may do there.');
}

function count(tools: number): string {
  return tools === 1 ? 'There is one tool for you' : `There are ${tools === 0 ? 'no' : tools} tools for you`;
}
