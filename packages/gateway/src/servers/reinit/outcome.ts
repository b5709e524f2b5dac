import type { ErrorCode, FlowView } from '@behalf/contracts';
import type { CatalogTool } from '../../tools/catalog.ts';

/** The tools that the policy makes available to the caller. */
export type ReinitTools = readonly CatalogTool[];

/** The result of a reinitialization. `tools` may come from a discovery without credentials. */
export type ReinitOutcome =
  | { readonly kind: 'connected'; readonly tools: ReinitTools }
  /** The definition contains fields of a chat request, so the gateway connects with the next chat request. */
  | { readonly kind: 'deferred' }
  /** The user must sign in, but the gateway cannot provide a sign-in URL. */
  | { readonly kind: 'authorization_unavailable'; readonly tools: ReinitTools | null }
  /** The user must sign in at the URL of the flow. */
  | { readonly kind: 'authorization_required'; readonly flow: FlowView; readonly tools: ReinitTools | null }
  | { readonly kind: 'user_vars_missing'; readonly names: readonly string[] }
  /** The token exchange failed. Tools are discovered only for a caller without a subject token. */
  | {
      readonly kind: 'obo_failed';
      readonly code: ErrorCode;
      readonly retryable: boolean;
      readonly tools: ReinitTools | null;
    }
  | { readonly kind: 'credential_rejected' }
  | {
      readonly kind: 'unreachable';
      readonly code: ErrorCode;
      /** The previous inspection had failed too. */
      readonly isRepeated: boolean;
      readonly retryAt?: number;
    }
  | { readonly kind: 'failed'; readonly code: ErrorCode };

export interface ReinitResult {
  readonly serverName: string;
  readonly success: boolean;
  readonly message: string;
  readonly oauthRequired: boolean;
  readonly oauthUrl: string | null;
  readonly flowId?: string;
  /** The remaining lifetime of the sign-in flow in milliseconds. */
  readonly oauthTimeout?: number;
  readonly tools: ReinitTools | null;
  readonly failureReason?:
    'unreachable' | 'missing_custom_user_vars' | 'oauth_required' | 'initialization_failed';
  readonly missingUserVars?: readonly string[];
  readonly connectionDeferred?: true;
  readonly code?: ErrorCode;
  readonly retryable?: boolean;
  readonly retryAt?: number;
}

/** Maps the outcome to the fields and messages that existing LibreChat front ends expect. */
export function toReinitResult(serverName: string, outcome: ReinitOutcome, now: number): ReinitResult {
  const formatMessage = (rest: string) => `MCP server '${serverName}' ${rest}`;
  const base = { serverName, oauthRequired: false, oauthUrl: null, tools: null };
  const failure = {
    ...base,
    success: false,
    message: `Failed to reinitialize MCP server '${serverName}'`,
    failureReason: 'initialization_failed' as const,
  };
  const discovered = 'tools' in outcome && outcome.tools !== null && outcome.tools.length > 0;
  const signInMessage = formatMessage(
    discovered ? 'tools discovered, OAuth required for execution' : 'ready for OAuth authentication',
  );
  switch (outcome.kind) {
    case 'connected': {
      const message = formatMessage('reinitialized successfully');
      return { ...base, success: true, message, tools: outcome.tools };
    }
    case 'deferred': {
      const message = formatMessage('connects with the first request of a chat');
      return { ...base, success: true, message, connectionDeferred: true };
    }
    case 'authorization_required': {
      const { flowId, connectUrl: oauthUrl, expiresAt } = outcome.flow;
      const flow = { oauthUrl, flowId, oauthTimeout: Math.max(0, expiresAt - now) };
      const tools = discovered ? outcome.tools : null;
      return { ...base, success: true, message: signInMessage, oauthRequired: true, ...flow, tools };
    }
    case 'authorization_unavailable': {
      const code = 'MCP_AUTHORIZATION_UNAVAILABLE';
      const shared = { ...base, message: signInMessage, oauthRequired: true, code } as const;
      return discovered
        ? { ...shared, success: true, tools: outcome.tools }
        : { ...shared, success: false, failureReason: 'oauth_required' };
    }
    case 'user_vars_missing': {
      const names = outcome.names.join(', ');
      return {
        ...failure,
        message: formatMessage(`requires user-provided variable(s) [${names}] which are not set`),
        failureReason: 'missing_custom_user_vars',
        missingUserVars: outcome.names,
        code: 'MCP_USER_VARS_MISSING',
      };
    }
    case 'unreachable':
      return {
        ...failure,
        message: outcome.isRepeated ? formatMessage('is still unreachable') : failure.message,
        failureReason: 'unreachable',
        code: outcome.code,
        retryable: true,
        ...(outcome.retryAt !== undefined && { retryAt: outcome.retryAt }),
      };
    case 'obo_failed': {
      const { code, retryable, tools } = outcome;
      if (!discovered) return { ...failure, code, retryable };
      const message = formatMessage('tools discovered, sign-in required for execution');
      return { ...base, success: true, message, tools, code, retryable };
    }
    case 'credential_rejected':
      return { ...failure, code: 'MCP_CREDENTIAL_REJECTED' };
    case 'failed':
      return { ...failure, code: outcome.code };
  }
}
