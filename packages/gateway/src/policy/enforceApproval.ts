import type { CatalogTool } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { EntryPoint } from '../toolcall/inbound.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import type { Approvals } from './approvals.ts';
import { hashArguments, hashTool } from './callHash.ts';

export interface EnforceParts {
  readonly approvals: Pick<Approvals, 'consume' | 'request'>;
}

export interface CallToApprove {
  readonly principal: UserPrincipal;
  readonly server: Pick<ServerSnapshot, 'id' | 'revision' | 'name'>;
  /** As the server describes it now, and as it is about to be called. */
  readonly tool: CatalogTool;
  readonly args: JsonObject;
  readonly door: EntryPoint;
}

/** For a call that asks first. Returns when its user approved this very call, and uses that up; asks otherwise. */
export async function enforceApproval({ approvals }: EnforceParts, call: CallToApprove): Promise<void> {
  const { principal, server, tool, args, door } = call;
  const run = {
    principal,
    server,
    tool: tool.name,
    toolHash: hashTool(tool),
    argsHash: hashArguments(args),
  };
  if (await approvals.consume(run)) return;
  const approval = await approvals.request({ ...run, argumentNames: Object.keys(args), door });
  throw new GatewayError('MCP_APPROVAL_REQUIRED', {
    detail: `This tool requires your approval. Approve the call with POST /api/mcp/approvals/${approval.id}, then send it again unchanged.`,
    approval,
  });
}
