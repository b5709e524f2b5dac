import type { ErrorCode, FlowView } from '@behalf/contracts';
import type { CatalogTool } from '../catalog/catalog.ts';

/** The tools that are offered: those that the definition hides are left out. */
export type Offered = readonly CatalogTool[];

/** How bringing a server's connection up anew ended. One of these, decided by types and never by a message. */
export type ReinitOutcome =
  | { readonly kind: 'connected'; readonly tools: Offered }
  /** It names fields of a chat request, so there is nothing to connect before one comes. */
  | { readonly kind: 'deferred' }
  /** The user must sign in there, and no address for it can be given. Its tools may be known all the same. */
  | { readonly kind: 'authorization_unavailable'; readonly tools: Offered | null }
  /** The user must sign in there, at this address of ours. */
  | { readonly kind: 'authorization_required'; readonly flow: FlowView; readonly tools: Offered | null }
  | { readonly kind: 'user_vars_missing'; readonly names: readonly string[] }
  /** No token for it could be exchanged. Its tools may be known all the same, where the caller has nothing to exchange. */
  | {
      readonly kind: 'obo_failed';
      readonly code: ErrorCode;
      readonly retryable: boolean;
      readonly tools: Offered | null;
    }
  | { readonly kind: 'credential_rejected'; readonly status: number }
  /** `still`: it had failed before, and did again. */
  | {
      readonly kind: 'unreachable';
      readonly code: ErrorCode;
      readonly still: boolean;
      readonly retryAt?: number;
    }
  | { readonly kind: 'failed'; readonly code: ErrorCode };

export interface Reinitialized {
  readonly serverName: string;
  readonly success: boolean;
  readonly message: string;
  readonly oauthRequired: boolean;
  readonly oauthUrl: string | null;
  readonly flowId?: string;
  /** Milliseconds in which the sign-in can still be finished. */
  readonly oauthTimeout?: number;
  readonly tools: Offered | null;
  readonly failureReason?:
    'unreachable' | 'missing_custom_user_vars' | 'oauth_required' | 'initialization_failed';
  readonly missingUserVars?: readonly string[];
  readonly connectionDeferred?: true;
  readonly code?: ErrorCode;
  readonly retryable?: boolean;
  readonly retryAt?: number;
}

/** The outcome in the words and fields that existing front ends and logs know. */
export function describeOutcome(serverName: string, outcome: ReinitOutcome, now: number): Reinitialized {
  const base = { serverName, success: false, oauthRequired: false, oauthUrl: null, tools: null };
  const says = (rest: string) => `MCP server '${serverName}' ${rest}`;
  const failed = `Failed to reinitialize MCP server '${serverName}'`;
  switch (outcome.kind) {
    case 'connected':
      return {
        ...base,
        success: true,
        message: says('reinitialized successfully'),
        tools: outcome.tools,
      };
    case 'deferred':
      return {
        ...base,
        success: true,
        message: says('connects with the first request of a chat'),
        connectionDeferred: true,
      };
    case 'authorization_required': {
      const { flowId, connectUrl, expiresAt } = outcome.flow;
      const found = outcome.tools !== null && outcome.tools.length > 0;
      return {
        ...base,
        success: true,
        message: says(
          found ? 'tools discovered, OAuth required for execution' : 'ready for OAuth authentication',
        ),
        oauthRequired: true,
        oauthUrl: connectUrl,
        flowId,
        oauthTimeout: Math.max(0, expiresAt - now),
        tools: found ? outcome.tools : null,
      };
    }
    case 'authorization_unavailable': {
      const found = outcome.tools !== null && outcome.tools.length > 0;
      const common = { ...base, oauthRequired: true, code: 'MCP_AUTHORIZATION_UNAVAILABLE' as const };
      return found
        ? {
            ...common,
            success: true,
            message: says('tools discovered, OAuth required for execution'),
            tools: outcome.tools,
          }
        : {
            ...common,
            message: says('ready for OAuth authentication'),
            failureReason: 'oauth_required',
          };
    }
    case 'user_vars_missing':
      return {
        ...base,
        message: says(`requires user-provided variable(s) [${outcome.names.join(', ')}] which are not set`),
        failureReason: 'missing_custom_user_vars',
        missingUserVars: outcome.names,
        code: 'MCP_USER_VARS_MISSING',
      };
    case 'unreachable':
      return {
        ...base,
        message: outcome.still ? says('is still unreachable') : failed,
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
          message: says('tools discovered, sign-in required for execution'),
          tools: outcome.tools,
          code: outcome.code,
          retryable: outcome.retryable,
        };
      }
      return {
        ...base,
        message: failed,
        failureReason: 'initialization_failed',
        code: outcome.code,
        retryable: outcome.retryable,
      };
    case 'credential_rejected':
      return {
        ...base,
        message: failed,
        failureReason: 'initialization_failed',
        code: 'MCP_CREDENTIAL_REJECTED',
      };
    case 'failed':
      return { ...base, message: failed, failureReason: 'initialization_failed', code: outcome.code };
  }
}
