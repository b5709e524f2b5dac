import { z } from 'zod';
import { Authority } from './chat.ts';

/** The body of POST and PATCH. What stands in `config` is judged by the gateway, which names every wrong field. */
export const ServerConfigRequest = z.strictObject({ config: z.record(z.string(), z.unknown()) });
export type ServerConfigRequest = z.output<typeof ServerConfigRequest>;

/** The body of POST. `draft`: of `POST /api/mcp/discover-tools`, whose sign-in the new server takes along. */
export const CreateServerRequest = ServerConfigRequest.extend({
  draft: z.string().min(1).max(64).optional(),
});
export type CreateServerRequest = z.output<typeof CreateServerRequest>;

/** The query of a list. Without one the whole list is answered, as existing front ends expect. */
export const ServersQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  /** The last name of the page before. */
  after: z.string().max(256).optional(),
  search: z.string().max(256).optional(),
});
export type ServersQuery = z.output<typeof ServersQuery>;

const ApiKeyView = z.strictObject({
  source: z.enum(['admin', 'user']),
  authorization_type: z.enum(['basic', 'bearer', 'custom']),
  custom_header: z.string().optional(),
});

/**
 * What is shown of a server. Strict, and so is the code that fills it in: a field of a definition that is not listed
 * here is not shown. `url` and the addresses in `oauth` are for who may edit.
 */
export const ServerView = z.strictObject({
  type: z.string(),
  url: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  iconPath: z.string().optional(),
  chatMenu: z.boolean(),
  requiresOAuth: z.boolean(),
  requestScoped: z.literal(true).optional(),
  serverInstructions: z.union([z.boolean(), z.string()]),
  customUserVars: z
    .record(
      z.string(),
      z.strictObject({ title: z.string(), description: z.string(), sensitive: z.boolean() }),
    )
    .optional(),
  apiKey: ApiKeyView.optional(),
  oauth: z.record(z.string(), z.unknown()).optional(),
  obo: z.looseObject({ scopes: z.string() }).optional(),
  source: z.enum(['user', 'yaml', 'config']),
  /** Of a server that a user stored. */
  dbId: z.string().optional(),
  author: z.string().optional(),
  version: z.number().int().optional(),
  updatedAt: z.number().optional(),
  /** The bits of the caller: VIEW 1, EDIT 2, DELETE 4, SHARE 8. */
  permissions: z.number().int(),
});
export type ServerView = z.output<typeof ServerView>;

/** By name. */
export const ServersView = z.record(z.string(), ServerView);
export type ServersView = z.output<typeof ServersView>;

/** The answer to POST and PATCH. */
export const NamedServerView = ServerView.extend({ serverName: z.string() });
export type NamedServerView = z.output<typeof NamedServerView>;

/**
 * The answer to POST. `draft`: what became of the sign-in of the draft that was named. `dropped`: there was none, it is over, or it
 * was given for another address or by another issuer; users sign in at the new server.
 */
export const CreatedServerView = NamedServerView.extend({ draft: z.enum(['kept', 'dropped']).optional() });
export type CreatedServerView = z.output<typeof CreatedServerView>;

/** What an administrator changed of a server, with a mask for each secret, and what came of it. */
export const OverrideView = z.strictObject({
  serverName: z.string(),
  override: z
    .strictObject({
      config: z.record(z.string(), z.unknown()),
      version: z.number().int(),
      updatedAt: z.number(),
      updatedBy: z.string(),
    })
    .nullable(),
  /** Null while it is not offered. */
  effective: ServerView.nullable(),
});
export type OverrideView = z.output<typeof OverrideView>;

/** Every server of a tenant, whoever defined it. */
export const AdminServersView = z.strictObject({
  servers: z.array(ServerView.extend({ serverName: z.string(), overridden: z.boolean() })),
  /** Names with an override that cannot be carried out: nobody is offered these. */
  notOffered: z.array(z.string()),
});
export type AdminServersView = z.output<typeof AdminServersView>;

/** A tool with all that a form for it needs. Its texts are the server's: data, never markup. */
export const ToolDetail = z.object({
  name: z.string(),
  /** The name that models use. */
  publicName: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z.record(z.string(), z.unknown()).optional(),
  /** Whether each call waits for the user's word. */
  asksFirst: z.boolean(),
});
export type ToolDetail = z.infer<typeof ToolDetail>;

/** `GET /api/mcp/servers/:serverName/tools`. */
export const ServerToolsView = z.object({
  serverName: z.string(),
  title: z.string(),
  state: z.enum(['connected', 'unreachable', 'needs_authorization', 'needs_configuration']),
  code: z.string().optional(),
  incomplete: z.boolean().optional(),
  authority: Authority,
  tools: z.array(ToolDetail),
});
export type ServerToolsView = z.infer<typeof ServerToolsView>;

/** `POST /api/mcp/servers/check`: everything that saving would check, and nothing is stored. */
export const ServerCheckRequest = z.strictObject({
  config: z.record(z.string(), z.unknown()),
  /** The server that is being edited: its secrets stand behind masks. */
  serverName: z.string().min(1).max(256).optional(),
});
export type ServerCheckRequest = z.infer<typeof ServerCheckRequest>;

export const ServerCheckView = z.object({
  /** `false`: it could not be looked at without a user's own credential; what can be checked was. */
  inspected: z.boolean(),
  tools: z.number().int().optional(),
});
export type ServerCheckView = z.infer<typeof ServerCheckView>;
