import { needsOAuth, usesObo } from '../registry/scope.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { UpstreamError, type Challenge } from '../upstream/upstreamError.ts';
import { failed, ok, warning, type Finding } from './checklist.ts';
import type { Case, DiagnoseParts } from './parts.ts';

const PATIENCE_MS = 5_000;

export interface ServerLook {
  readonly finding: Finding;
  /** What it said to who came without a credential. */
  readonly challenge?: Challenge | undefined;
  /** It answers everybody. */
  readonly isOpen: boolean;
}

/** Whether an MCP server is there. Asked without a credential: what it says then is also how it wants to be asked. */
export async function lookAtServer(
  { open }: Pick<DiagnoseParts, 'open'>,
  { server }: Case,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<ServerLook> {
  const { id, settings } = server;
  try {
    const options = { server: id, owner: undefined, era: settings.era, initTimeoutMs: PATIENCE_MS, signal };
    const upstream = await open(target, options);
    await upstream.close();
    return { finding: ok('It answers MCP, also without a credential.'), isOpen: true };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { finding: explain(error, server), challenge: error.detail.challenge, isOpen: false };
  }
}

function explain({ reason, code, detail }: UpstreamError, { settings }: Case['server']): Finding {
  switch (reason) {
    case 'unauthorized':
      if (!needsOAuth(settings) || usesObo(settings)) return ok('It answers, and asks for a credential.');
      return detail.challenge?.scheme === 'bearer'
        ? ok('It answers, and asks for a token.')
        : warning(
            'It answers with 401 and does not say what it wants (RFC 6750, section 3).',
            'Tell its maintainers; where its users sign in is looked for at the usual place.',
          );
    case 'forbidden':
    case 'insufficient_scope':
      return warning(
        'It answers with 403 to who comes without a credential.',
        'See whether it takes yours, below.',
      );
    case 'wrong_url':
      return failed(code, 'It does not answer MCP at this address.', 'Check url and type of the server.');
    case 'redirected':
      return failed(
        code,
        'It answers with a redirect that is not followed.',
        'Put the final address into url.',
      );
    case 'rate_limited':
      return warning('It has been asked too often.', 'Try again later.', code);
    case 'upstream_5xx':
      return failed('MCP_UNREACHABLE', 'It answers with an error of its own (5xx).', 'Tell its maintainers.');
    case 'timeout':
    case 'connect_timeout':
      return failed('MCP_TIMEOUT', 'It takes connections and does not answer.');
    default:
      return failed(code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code);
  }
}
