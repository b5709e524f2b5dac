import { needsOAuth, usesObo } from '../registry/scope.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { UpstreamError, type Challenge } from '../upstream/upstreamError.ts';
import { failed, ok, warning, type StepFinding } from './checklist.ts';
import type { DiagnosisContext, DiagnoseParts } from './parts.ts';

const CONNECT_TIMEOUT_MS = 5_000;

export interface ServerResponseCheck {
  readonly finding: StepFinding;
  /** What it said to who came without a credential. */
  readonly challenge?: Challenge | undefined;
  /** It answers everybody. */
  readonly allowsAnonymous: boolean;
}

/** Whether an MCP server is there. Asked without a credential: what it says then is also how it wants to be asked. */
export async function checkServerResponse(
  { open }: Pick<DiagnoseParts, 'open'>,
  { server }: DiagnosisContext,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<ServerResponseCheck> {
  const { id, settings } = server;
  try {
    const options = {
      server: id,
      owner: undefined,
      era: settings.era,
      initTimeoutMs: CONNECT_TIMEOUT_MS,
      signal,
    };
    const upstream = await open(target, options);
    await upstream.close();
    return {
      finding: ok('The server responds to MCP requests without a credential.'),
      allowsAnonymous: true,
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return {
      finding: toServerResponseFinding(error, server),
      challenge: error.detail.challenge,
      allowsAnonymous: false,
    };
  }
}

function toServerResponseFinding(
  { reason, code, detail }: UpstreamError,
  { settings }: DiagnosisContext['server'],
): StepFinding {
  switch (reason) {
    case 'unauthorized':
      if (!needsOAuth(settings) || usesObo(settings))
        return ok('The server responds and requires a credential.');
      return detail.challenge?.scheme === 'bearer'
        ? ok('The server responds and requires a token.')
        : warning(
            'The server responds with 401 and no Bearer challenge (RFC 6750, section 3).',
            'Tell its maintainers. The gateway looks for the metadata at the well-known address.',
          );
    case 'forbidden':
    case 'insufficient_scope':
      return warning(
        'The server responds with 403 to requests without a credential.',
        'See below whether it accepts your credential.',
      );
    case 'wrong_url':
      return failed(
        code,
        'The server does not respond to MCP requests at this address.',
        'Check url and type of the server.',
      );
    case 'redirected':
      return failed(
        code,
        'The server responds with a redirect, which the gateway does not follow.',
        'Set url to the final address.',
      );
    case 'rate_limited':
      return warning('The server limits the request rate.', 'Try again later.', code);
    case 'upstream_5xx':
      return failed(
        'MCP_UNREACHABLE',
        'The server responds with an internal error (5xx).',
        'Tell its maintainers.',
      );
    case 'timeout':
    case 'connect_timeout':
      return failed('MCP_TIMEOUT', 'The server accepts connections but does not respond.');
    default:
      return failed(code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code);
  }
}
