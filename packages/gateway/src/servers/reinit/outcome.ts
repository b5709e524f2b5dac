import type { ErrorCode, FlowView } from '@behalf/contracts';
import type { CatalogTool } from '../../tools/catalog.ts';

/** The tools that are offered: those that the definition hides are left out. */
export type ReinitTools = readonly CatalogTool[];

/** How bringing a server's connection up anew ended. One of these, decided by types and never by a message. */
export type ReinitOutcome =
  | { readonly kind: 'connected'; readonly tools: ReinitTools }
  /** It names fields of a chat request, so there is nothing to connect before one comes. */
  | { readonly kind: 'deferred' }
  /** The user must sign in there, and no address for it can be given. Its tools may be known all the same. */
  | { readonly kind: 'authorization_unavailable'; readonly tools: ReinitTools | null }
  /** The user must sign in there, at this address of ours. */
  | { readonly kind: 'authorization_required'; readonly flow: FlowView; readonly tools: ReinitTools | null }
  | { readonly kind: 'user_vars_missing'; readonly names: readonly string[] }
  /** No token for it could be exchanged. Its tools may be known all the same, where the caller has nothing to exchange. */
  | {
      readonly kind: 'obo_failed';
      readonly code: ErrorCode;
      readonly retryable: boolean;
      readonly tools: ReinitTools | null;
    }
  | { readonly kind: 'credential_rejected'; readonly status: number }
  /** `still`: it had failed before, and did again. */
  | {
      readonly kind: 'unreachable';
      readonly code: ErrorCode;
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
  /** Milliseconds in which the sign-in can still be finished. */
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

/** The outcome in the words and fields that existing front ends and logs know. */
export function toReinitResult(serverName: string, outcome: ReinitOutcome, now: number): ReinitResult {
  const base = { serverName, success: false, oauthRequired: false, oauthUrl: null, tools: null };
  const formatMessage = (rest: string) => `MCP server '${serverName}' ${rest}`;
  const failedMessage = `Failed to reinitialize MCP server '${serverName}'`;
  switch (outcome.kind) {
    case 'connected':
      return {
        ...base,
        success: true,
        message: formatMessage('reinitialized successfully'),
        tools: outcome.tools,
      };
    case 'deferred':
      return {
        ...base,
        success: true,
        message: formatMessage('connects with the first request of a chat'),
        connectionDeferred: true,
      };
    case 'authorization_required': {
      const { flowId, connectUrl, expiresAt } = outcome.flow;
      const hasTools = outcome.tools !== null && outcome.tools.length > 0;
      return {
        ...base,
        success: true,
        message: formatMessage(
          hasTools ? 'tools discovered, OAuth required for execution' : 'ready for OAuth authentication',
        ),
        oauthRequired: true,
        oauthUrl: connectUrl,
        flowId,
        oauthTimeout: Math.max(0, expiresAt - now),
        tools: hasTools ? outcome.tools : null,
      };
    }
    case 'authorization_unavailable': {
      const hasTools = outcome.tools !== null && outcome.tools.length > 0;
      const shared = { ...base, oauthRequired: true, code: 'MCP_AUTHORIZATION_UNAVAILABLE' as const };
      return hasTools
        ? {
            ...shared,
            success: true,
            message: formatMessage('tools discovered, OAuth required for execution'),
            tools: outcome.tools,
          }
        : {
            ...shared,
            message: formatMessage('ready for OAuth authentication'),
            failureReason: 'oauth_required',
          };
    }
    case 'user_vars_missing':
      return {
        ...base,
        message: formatMessage(
          `requires user-provided variable(s) [${outcome.names.join(', ')}] which are not set`,
        ),
        failureReason: 'missing_custom_user_vars',
        missingUserVars: outcome.names,
        code: 'MCP_USER_VARS_MISSING',
      };
    case 'unreachable':
      return {
        ...base,
        message: outcome.isRepeated ? formatMessage('is still unreachable') : failedMessage,
        failureReason: 'unreachable',
        code: outcome.code,
        retryable: true,
        ...(outcome.retryAt !== undefined && { retryAt: outcome.retryAt }),
      };
    case 'obo_failed':
      if (outcome.tools !== null && outcome.tools.length > 0) {
        return {
          ...base,
          success: true,
          message: formatMessage('tools discovered, sign-in required for execution'),
          tools: outcome.tools,
          code: outcome.code,
          retryable: outcome.retryable,
        };
      }
      return {
        ...base,
        message: failedMessage,
        failureReason: 'initialization_failed',
        code: outcome.code,
        retryable: outcome.retryable,
      };
    case 'credential_rejected':
      return {
        ...base,
        message: failedMessage,
        failureReason: 'initialization_failed',
        code: 'MCP_CREDENTIAL_REJECTED',
      };
    case 'failed':
      return { ...base, message: failedMessage, failureReason: 'initialization_failed', code: outcome.code };
  }
}
