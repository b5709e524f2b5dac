import type { ErrorKind } from './errorKind.ts';

/** What blocks, sets and their runs are refused with. */
export const blockErrorKinds = {
  BLOCK_NOT_FOUND: { status: 404, title: 'No such block', action: 'List your blocks.' },
  BLOCK_FORBIDDEN: {
    status: 403,
    title: 'You do not have permission for this action on this block',
    action: 'Ask its owner.',
  },
  BLOCK_LIMIT: { status: 409, title: 'You have reached the maximum number of blocks', action: 'Delete one.' },
  BLOCK_INPUTS_INVALID: {
    status: 400,
    title: 'The inputs of the block do not match the schema of the tool',
    action: 'Correct the fields named in errors.',
  },
  BLOCK_INCOMPLETE: {
    status: 422,
    title: 'Inputs or credentials of this block are missing',
    action: 'Provide the inputs and credentials named in missing; nothing was sent.',
  },
  BLOCK_SERVER_FORBIDDEN: {
    status: 403,
    title: 'You do not have access to the server of this block',
    action: 'Ask the owner of the server to share it with you.',
  },
  BLOCK_SERVER_GONE: {
    status: 410,
    title: 'The server of this block no longer exists',
    action: 'Create another block with an existing server.',
  },
  BLOCK_OUTPUT_INVALID: {
    status: 502,
    title: 'The tool ran, but its result does not match its output schema',
    action: 'Report it to the maintainers of the server; check the effect before you run the block again.',
  },
  SET_NOT_FOUND: { status: 404, title: 'No such set', action: 'List your sets.' },
  SET_FORBIDDEN: {
    status: 403,
    title: 'You do not have permission for this action on this set',
    action: 'Ask its owner.',
  },
  SET_LIMIT: { status: 409, title: 'You have reached the maximum number of sets', action: 'Delete one.' },
  SET_INVALID: {
    status: 400,
    title: 'The steps of the set do not match its blocks',
    action: 'Correct the fields named in errors.',
  },
  SET_INCOMPLETE: {
    status: 422,
    title: 'Inputs or credentials of this set are missing',
    action:
      'Provide the inputs and credentials named in missing, and correct the steps named in errors; nothing ran.',
  },
  SET_INPUT_UNAVAILABLE: {
    status: 422,
    title: 'An earlier step returned no value for this input',
    action: 'Correct the pointer, or the step that it refers to.',
  },
  RUN_NOT_FOUND: { status: 404, title: 'No such run', action: 'List your runs.' },
  RUN_LIMIT: {
    status: 409,
    title: 'You have reached the maximum number of active runs',
    action: 'Wait until a run ends, or cancel a run.',
  },
  RUN_NOT_RESUMABLE: {
    status: 409,
    title: 'This run cannot be resumed',
    action: 'Check its state, or start another run of the set.',
  },
  RUN_BLOCK_CHANGED: {
    status: 409,
    title: 'A block of this run was changed after the run started',
    action: 'Check the block, then start another run of the set.',
  },
  RUN_OUTCOME_UNCERTAIN: {
    status: 409,
    title: 'A step of this run may or may not have run, and is not retried',
    action: 'Check its effect, then start another run of the set.',
  },
} as const satisfies Record<string, ErrorKind>;
