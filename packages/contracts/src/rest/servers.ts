import { z } from 'zod';
import { Authority } from './chat.ts';

/** The body of POST and PATCH. The gateway validates `config` and reports each invalid field. */
export const ServerConfigRequest = z.strictObject({ config: z.record(z.string(), z.unknown()) });
export type ServerConfigRequest = z.output<typeof ServerConfigRequest>;

/** The body of POST. `draft`: from `POST /api/mcp/discover-tools`; the new server takes over its sign-in. */
export const CreateServerRequest = ServerConfigRequest.extend({
  draft: z.string().min(1).max(64).optional(),
});
export type CreateServerRequest = z.output<typeof CreateServerRequest>;

/** The query of a list. Without it, the whole list is returned, as LibreChat's front end expects. */
export const ServersQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  /** The last name of the previous page. */
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
 * The displayed fields of a server. Strict: a field of a definition that is not listed here is never returned. Only
 * editors receive `url` and the URLs in `oauth`.
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
  /** For a user-defined server. */
  dbId: z.string().optional(),
  author: z.string().optional(),
  version: z.number().int().optional(),
  updatedAt: z.number().optional(),
  /** The caller's permissions: VIEW 1, EDIT 2, DELETE 4, SHARE 8. */
  permissions: z.number().int(),
});
export type ServerView = z.output<typeof ServerView>;

/** By server name. */
export const ServersView = z.record(z.string(), ServerView);
export type ServersView = z.output<typeof ServersView>;

/** The response to POST and PATCH. */
export const NamedServerView = ServerView.extend({ serverName: z.string() });
export type NamedServerView = z.output<typeof NamedServerView>;

/**
 * The response to POST. `draft`: whether the sign-in of the draft was kept. `dropped`: there was none, it expired,
 * or it was for another URL or issuer. Users then sign in at the new server.
 */
export const CreatedServerView = NamedServerView.extend({ draft: z.enum(['kept', 'dropped']).optional() });
export type CreatedServerView = z.output<typeof CreatedServerView>;

/** An administrator's override of a server, with each secret masked, and the resulting server. */
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
  /** Null if the server is not available. */
  effective: ServerView.nullable(),
});
export type OverrideView = z.output<typeof OverrideView>;

/** All servers of a tenant, from all sources. */
export const AdminServersView = z.strictObject({
  servers: z.array(ServerView.extend({ serverName: z.string(), overridden: z.boolean() })),
  /** Servers that are unavailable because their override is invalid. */
  notOffered: z.array(z.string()),
});
export type AdminServersView = z.output<typeof AdminServersView>;

/** A tool with everything that a form for it needs. Its texts come from the server: data, never markup. */
export const ToolDetail = z.object({
  name: z.string(),
  /** The name that models use. */
  publicName: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z.record(z.string(), z.unknown()).optional(),
  /** Whether each call needs the user's approval. */
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

/** `POST /api/mcp/servers/check`: validates like saving does, without storing. */
export const ServerCheckRequest = z.strictObject({
  config: z.record(z.string(), z.unknown()),
  /** The server being edited. Its stored secrets replace masks in the request. */
  serverName: z.string().min(1).max(256).optional(),
});
export type ServerCheckRequest = z.infer<typeof ServerCheckRequest>;

export const ServerCheckView = z.object({
  /** `false`: the server was not contacted, because that needs a user's own credential. */
  inspected: z.boolean(),
  tools: z.number().int().optional(),
});
export type ServerCheckView = z.infer<typeof ServerCheckView>;
