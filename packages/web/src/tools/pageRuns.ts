import { runBlock } from '../api/blocks.ts';
import { callTool, decideApproval } from '../api/tools.ts';
import { runAsMutation } from '../app/queryClient.ts';
import { createRuns } from './runs.ts';

/** Fast enough to follow, and cheap for the browser. */
const UPDATE_INTERVAL_MS = 100;

/** The runs of this page. A new sign-in reloads the page. */
export const runs = createRuns({
  call: ({ block, ...call }) => runAsMutation(() => (block ? runBlock(block, call) : callTool(call))),
  decide: (id, approve) => runAsMutation(() => decideApproval(id, approve)),
  now: () => Date.now(),
  schedule: (work) => void setTimeout(work, UPDATE_INTERVAL_MS),
});
