import type { ErrorKind } from './errorKind.ts';

/** What blocks, sets and their runs are refused with. */
export const blockErrorKinds = {
  BLOCK_NOT_FOUND: { status: 404, title: 'No such block', action: 'List your blocks.' },
  BLOCK_FORBIDDEN: {
    status: 403,
    title: 'This block is not shared with you for this',
    action: 'Ask its owner.',
  },
  BLOCK_LIMIT: { status: 409, title: 'You have as many blocks as one may have', action: 'Delete one.' },
  BLOCK_INPUTS_INVALID: {
    status: 400,
    title: 'The inputs of the block do not fit the tool',
    action: 'Correct the fields named in errors.',
  },
  BLOCK_INCOMPLETE: {
    status: 422,
    title: 'Something is missing before this block can run',
    action: 'Bring the inputs and credentials named in missing; nothing was sent.',
  },
  BLOCK_SERVER_FORBIDDEN: {
    status: 403,
    title: 'You do not have the server of this block',
    action: 'Ask the owner of the server to share it with you.',
  },
  BLOCK_SERVER_GONE: {
    status: 410,
    title: 'The server of this block is gone',
    action: 'Make another block with a server that is there.',
  },
  BLOCK_OUTPUT_INVALID: {
    status: 502,
    title: 'The tool ran, and its result is not what it promises',
    action: 'Tell the maintainers of the server; check the effect before running it again.',
  },
  SET_NOT_FOUND: { status: 404, title: 'No such set', action: 'List your sets.' },
  SET_FORBIDDEN: {
    status: 403,
    title: 'This set is not shared with you for this',
    action: 'Ask its owner.',
  },
  SET_LIMIT: { status: 409, title: 'You have as many sets as one may have', action: 'Delete one.' },
  SET_INVALID: {
    status: 400,
    title: 'The steps of the set do not fit its blocks',
    action: 'Correct the places named in errors.',
  },
  SET_INCOMPLETE: {
    status: 422,
    title: 'Something is missing before this set can run',
    action:
      'Bring the inputs and credentials named in missing, and mend the steps named in errors; nothing ran.',
  },
  SET_INPUT_UNAVAILABLE: {
    status: 422,
    title: 'An earlier step gave nothing that this input could take',
    action: 'Correct the pointer, or the step that it points into.',
  },
  RUN_NOT_FOUND: { status: 404, title: 'No such run', action: 'List your runs.' },
  RUN_LIMIT: {
    status: 409,
    title: 'You have as many runs under way as one may have',
    action: 'Wait for one, or cancel it.',
  },
  RUN_NOT_RESUMABLE: {
    status: 409,
    title: 'This run cannot go on',
    action: 'Look at its state; start another run of the set.',
  },
  RUN_BLOCK_CHANGED: {
    status: 409,
    title: 'A block of this run was changed after the run began',
    action: 'Look at what the block is now, then start another run of the set.',
  },
  RUN_OUTCOME_UNCERTAIN: {
    status: 409,
    title: 'A step of this run may or may not have run, and is not repeated',
    action: 'Check its effect, then start another run of the set.',
  },
} as const satisfies Record<string, ErrorKind>;
