import { z } from 'zod';
import { errorCodes } from '../errors/codes.ts';
import { Diagnostic } from '../errors/diagnostic.ts';

const title = z.string().trim().min(1).max(200);
const description = z.string().max(4_096);
const values = z.record(z.string().max(256), z.unknown());
const value = z.unknown().refine((input) => input !== undefined, 'is required');

/**
 * What becomes of one argument of the tool. `fixed`: always this value, whoever runs the block. `default`: this value, unless a
 * run brings another. `ask`: each run brings it. An argument that is not named is asked for.
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
  /** What people call it; by default what the server calls the tool. */
  title: title.optional(),
  description: description.optional(),
  inputs: BlockInputs.default({}),
});
export type BlockRequest = z.infer<typeof BlockRequest>;

/** `PATCH /api/mcp/blocks/:id`. `inputs` replaces all of them, and takes the tool's schema of that moment over. */
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
  /** The last id of the page before. */
  after: z.string().max(256).optional(),
});
export type BlocksQuery = z.infer<typeof BlocksQuery>;

/** `gone`: it is not offered any more, to anybody. `no_access`: it is not offered to the caller. */
export const BlockServer = z.object({
  name: z.string(),
  state: z.enum(['available', 'no_access', 'gone']),
});
export type BlockServer = z.infer<typeof BlockServer>;

const schema = z.record(z.string(), z.unknown());

/** One of a list. */
export const BlockSummary = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string().optional(),
  server: BlockServer,
  tool: z.string(),
  inputs: BlockInputs,
  /** The id of the user who made it. */
  owner: z.string(),
  version: z.number().int(),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** The bits of the caller: VIEW 1, EDIT 2, DELETE 4, SHARE 8. Who may see it may run it. */
  permissions: z.number().int(),
});
export type BlockSummary = z.infer<typeof BlockSummary>;

/** `GET /api/mcp/blocks/:id`: with the tool's schemas as they were when the inputs were saved. */
export const BlockView = BlockSummary.extend({ inputSchema: schema, outputSchema: schema.optional() });
export type BlockView = z.infer<typeof BlockView>;

/** `GET /api/mcp/blocks`, in the order of their ids. */
export const BlocksView = z.object({ blocks: z.array(BlockSummary), next: z.string().nullable() });
export type BlocksView = z.infer<typeof BlocksView>;

/** What is kept of a block, sealed. */
export const StoredBlock = z.strictObject({
  title,
  description: description.optional(),
  /** As the server was called when the inputs were saved: what it is called when it is gone. */
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
  /** Which of the caller's credentials at the server; by default their default or only one. */
  credential: label.optional(),
  /** What a definition may name as `{{LIBRECHAT_BODY_...}}`. */
  request: z
    .strictObject({
      conversationId: field.optional(),
      parentMessageId: field.optional(),
      messageId: field.optional(),
    })
    .optional(),
});
export type BlockRunRequest = z.infer<typeof BlockRunRequest>;

/** An input that a run has to bring. Its texts are the server's: data, never markup. */
export const MissingInput = z.object({
  block: z.string(),
  /** In a set: the key of the step. */
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
  /** A page of ours where it is given. */
  connectUrl: z.string(),
  /** Which blocks wait for it. */
  blocks: z.array(z.string()),
  /** In a set: the keys of the steps. */
  steps: z.array(z.string()).optional(),
};

/** `sign_in`: at the server; `values`: variables of the server to fill in; `choose`: there are several and none is the default. */
export const CredentialNeed = z.discriminatedUnion('kind', [
  /** `label`: of the credential, where the run names one. */
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

/** Servers at one address, canonically written, stand together. The address itself is for who may edit the server. */
export const CredentialGroup = z.object({ address: z.string().optional(), needs: z.array(CredentialNeed) });
export type CredentialGroup = z.infer<typeof CredentialGroup>;

/** All that has to be there before anything runs, named together. */
export const MissingParts = z.object({
  inputs: z.array(MissingInput),
  /** In the order of server name, then server id. */
  credentials: z.array(CredentialGroup),
});
export type MissingParts = z.infer<typeof MissingParts>;

/** `POST /api/mcp/blocks/check`. `inputs` and `credentials` by block, as its run would bring them. */
export const BlockCheckRequest = z.strictObject({
  ids: z.array(z.string().min(1).max(256)).min(1).max(50),
  inputs: z.record(z.string(), values).default({}),
  credentials: z.record(z.string(), label).default({}),
});
export type BlockCheckRequest = z.infer<typeof BlockCheckRequest>;

/** Names of arguments; `other`: something besides arguments changed. */
export const SchemaDrift = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
  /** That were not required, and are. */
  required: z.array(z.string()),
  /** That were required, and are not. */
  optional: z.array(z.string()),
  other: z.boolean(),
});
export type SchemaDrift = z.infer<typeof SchemaDrift>;

/**
 * `ready`: it would run. `incomplete`: something is missing. `broken`: what is saved or given does not fit the tool. `unknown`:
 * the tools of the server cannot be told now, and `code` says why.
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
  /** The tool's schemas changed since the inputs were saved. */
  drift: z.object({ input: SchemaDrift.optional(), output: SchemaDrift.optional() }).optional(),
  credentials: z
    .object({
      choices: z.array(CredentialChoice),
      /** The one that would be used; null: none. */
      selected: z.string().nullable(),
      /** Whether it may run without one. */
      mayGoWithout: z.boolean(),
    })
    .optional(),
});
export type CheckedBlock = z.infer<typeof CheckedBlock>;

/** In the order of the question; an id that is not for the caller is `not_found`, as one that does not exist. */
export const BlockCheckView = z.object({
  runs: z.boolean(),
  blocks: z.array(CheckedBlock),
  missing: MissingParts,
});
export type BlockCheckView = z.infer<typeof BlockCheckView>;
