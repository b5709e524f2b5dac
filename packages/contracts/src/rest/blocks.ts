import { z } from 'zod';
import { errorCodes } from '../errors/codes.ts';
import { Diagnostic } from '../errors/diagnostic.ts';

const title = z.string().trim().min(1).max(200);
const description = z.string().max(4_096);
const values = z.record(z.string().max(256), z.unknown());
const value = z.unknown().refine((input) => input !== undefined, 'is required');

/**
 * The source of an argument. `fixed`: always this value, for every user. `default`: this value, unless the
 * run sets another. `ask`: the run must set it, which is also the default for arguments that are not listed.
 */
export const BlockInput = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('fixed'), value }),
  z.strictObject({ mode: z.literal('default'), value }),
  z.strictObject({ mode: z.literal('ask') }),
]);
export type BlockInput = z.infer<typeof BlockInput>;

export const BlockInputs = z
  .record(z.string().min(1).max(256), BlockInput)
  .refine((inputs) => Object.keys(inputs).length <= 200, 'has more than 200 inputs');
export type BlockInputs = z.infer<typeof BlockInputs>;

/** `POST /api/mcp/blocks`. */
export const BlockRequest = z.strictObject({
  server: z.string().min(1).max(256),
  tool: z.string().min(1).max(256),
  /** Default: the title of the tool. */
  title: title.optional(),
  description: description.optional(),
  inputs: BlockInputs.default({}),
});
export type BlockRequest = z.infer<typeof BlockRequest>;

/** `PATCH /api/mcp/blocks/:id`. `inputs` replaces all inputs and stores the current schema of the tool. */
export const BlockChange = z
  .strictObject({
    title: title.optional(),
    description: description.nullable().optional(),
    inputs: BlockInputs.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'contains no change');
export type BlockChange = z.infer<typeof BlockChange>;

/** The query of `GET /api/mcp/blocks`. */
export const BlocksQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  /** The last ID of the previous page. */
  after: z.string().max(256).optional(),
});
export type BlocksQuery = z.infer<typeof BlocksQuery>;

/** `gone`: the server no longer exists. `no_access`: the caller may not use it. */
export const BlockServer = z.object({
  name: z.string(),
  state: z.enum(['available', 'no_access', 'gone']),
});
export type BlockServer = z.infer<typeof BlockServer>;

const schema = z.record(z.string(), z.unknown());

/** A block in a list. */
export const BlockSummary = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string().optional(),
  server: BlockServer,
  tool: z.string(),
  inputs: BlockInputs,
  /** The ID of the user who created it. */
  owner: z.string(),
  version: z.number().int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** The caller's permissions: VIEW 1, EDIT 2, DELETE 4, SHARE 8. VIEW includes running the block. */
  permissions: z.number().int(),
});
export type BlockSummary = z.infer<typeof BlockSummary>;

/** `GET /api/mcp/blocks/:id`, with the tool's schemas at the time when the inputs were saved. */
export const BlockView = BlockSummary.extend({ inputSchema: schema, outputSchema: schema.optional() });
export type BlockView = z.infer<typeof BlockView>;

/** `GET /api/mcp/blocks`, ordered by ID. */
export const BlocksView = z.object({ blocks: z.array(BlockSummary), next: z.string().nullable() });
export type BlocksView = z.infer<typeof BlocksView>;

/** The encrypted content of a stored block. */
export const StoredBlock = z.strictObject({
  title,
  description: description.optional(),
  /** The server's name when the inputs were saved. Shown after the server was deleted. */
  serverName: z.string(),
  inputs: BlockInputs,
  inputSchema: schema,
  outputSchema: schema.optional(),
});
export type StoredBlock = z.infer<typeof StoredBlock>;

const label = z.string().min(1).max(64);
const field = z.string().min(1).max(256);

/** `POST /api/mcp/blocks/:id/run`. */
export const BlockRunRequest = z.strictObject({
  inputs: values.default({}),
  /** The label of the caller's credential at the server. Default: the default or only one. */
  credential: label.optional(),
  /** Values for `{{LIBRECHAT_BODY_...}}` placeholders of the server definition. */
  request: z
    .strictObject({
      conversationId: field.optional(),
      parentMessageId: field.optional(),
      messageId: field.optional(),
    })
    .optional(),
});
export type BlockRunRequest = z.infer<typeof BlockRunRequest>;

/** An input that the run must provide. Its texts come from the server: data, never markup. */
export const MissingInput = z.object({
  block: z.string(),
  /** The key of the step, in a set. */
  step: z.string().optional(),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
});
export type MissingInput = z.infer<typeof MissingInput>;

export const CredentialChoice = z.object({
  label: z.string(),
  kind: z.enum(['oauth_code', 'static']),
  isDefault: z.boolean(),
});
export type CredentialChoice = z.infer<typeof CredentialChoice>;

const needFields = {
  server: z.string(),
  title: z.string(),
  /** A page of the gateway where the user can provide it. */
  connectUrl: z.string(),
  /** The blocks that need it. */
  blocks: z.array(z.string()),
  /** The keys of the steps, in a set. */
  steps: z.array(z.string()).optional(),
};

/**
 * `sign_in`: sign in at the server. `values`: enter user variables. `choose`: select one of several credentials,
 * because none is the default.
 */
export const CredentialNeed = z.discriminatedUnion('kind', [
  /** `label`: the credential that the run names. */
  z.object({ kind: z.literal('sign_in'), ...needFields, reason: z.string(), label: z.string().optional() }),
  z.object({
    kind: z.literal('values'),
    ...needFields,
    values: z.array(
      z.object({ name: z.string(), title: z.string(), description: z.string(), sensitive: z.boolean() }),
    ),
  }),
  z.object({ kind: z.literal('choose'), ...needFields, choices: z.array(CredentialChoice) }),
]);
export type CredentialNeed = z.infer<typeof CredentialNeed>;

/** Groups servers with the same canonical URL. Only editors of the server see the URL. */
export const CredentialGroup = z.object({ address: z.string().optional(), needs: z.array(CredentialNeed) });
export type CredentialGroup = z.infer<typeof CredentialGroup>;

/** Everything that is missing before a run can start. */
export const MissingParts = z.object({
  inputs: z.array(MissingInput),
  /** Ordered by server name, then server ID. */
  credentials: z.array(CredentialGroup),
});
export type MissingParts = z.infer<typeof MissingParts>;

/** `POST /api/mcp/blocks/check`. `inputs` and `credentials` per block, as for a run. */
export const BlockCheckRequest = z.strictObject({
  ids: z.array(z.string().min(1).max(256)).min(1).max(50),
  inputs: z.record(z.string(), values).default({}),
  credentials: z.record(z.string(), label).default({}),
});
export type BlockCheckRequest = z.infer<typeof BlockCheckRequest>;

/** Names of changed arguments. `other`: something besides arguments changed. */
export const SchemaDrift = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
  /** Arguments that became required. */
  required: z.array(z.string()),
  /** Arguments that became optional. */
  optional: z.array(z.string()),
  other: z.boolean(),
});
export type SchemaDrift = z.infer<typeof SchemaDrift>;

/**
 * `ready`: would run. `incomplete`: something is missing. `broken`: the saved or given inputs do not match the
 * tool. `unknown`: the server's tools cannot be listed now; `code` gives the reason.
 */
export const blockStates = [
  'ready',
  'incomplete',
  'broken',
  'no_access',
  'server_gone',
  'tool_gone',
  'not_found',
  'unknown',
] as const;

export const CheckedBlock = z.object({
  id: z.string(),
  title: z.string().optional(),
  tool: z.string().optional(),
  server: BlockServer.optional(),
  state: z.enum(blockStates),
  runs: z.boolean(),
  code: z.enum(errorCodes).optional(),
  errors: z.array(Diagnostic).optional(),
  /** Changes of the tool's schemas since the inputs were saved. */
  drift: z.object({ input: SchemaDrift.optional(), output: SchemaDrift.optional() }).optional(),
  credentials: z
    .object({
      choices: z.array(CredentialChoice),
      /** The credential that a run would use; null if none. */
      selected: z.string().nullable(),
      /** Whether the block may run without a credential. */
      mayGoWithout: z.boolean(),
    })
    .optional(),
});
export type CheckedBlock = z.infer<typeof CheckedBlock>;

/** In the order of the request. A block that the caller may not see is `not_found`, like one that does not exist. */
export const BlockCheckView = z.object({
  runs: z.boolean(),
  blocks: z.array(CheckedBlock),
  missing: MissingParts,
});
export type BlockCheckView = z.infer<typeof BlockCheckView>;
