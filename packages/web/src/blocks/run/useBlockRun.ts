import { ApiError } from '../../api/apiError.ts';
import { strings } from '../../strings/strings.ts';
import { runs } from '../../tools/pageRuns.ts';
import type { ToolForm } from '../../tools/useToolForm.ts';
import { presetValues } from './runInputs.ts';
import type { BlockRunnerProps } from './BlockRunner.tsx';

type BlockRunParts = Pick<
  BlockRunnerProps,
  'block' | 'tool' | 'view' | 'checkedBlock' | 'selectedCredential' | 'onRecheck' | 'onReload'
> & {
  readonly form: ToolForm;
};

/** What its user has to do before it can be started at all, or after it was refused for its inputs. */
type StartResult = 'invalid' | 'choose' | 'started';

/** Starts the run of a block with the credential that is shown, and with no other. */
export function useBlockRun({
  block,
  tool: detail,
  view,
  checkedBlock,
  selectedCredential,
  form,
  onRecheck,
  onReload,
}: BlockRunParts) {
  const credentials = checkedBlock?.credentials;
  const selected = selectedCredential ?? credentials?.selected ?? undefined;
  const choices = credentials?.choices ?? [];
  const isAvailable = choices.some(({ label }) => label === selected);
  const mustChoose = choices.length > 0 && !isAvailable;

  async function start(): Promise<StartResult> {
    const inputs = form.submit();
    if (!inputs) return 'invalid';
    if (mustChoose) return 'choose';
    const { id, version, server, tool } = block;
    const endedRun = await runs.start({
      ...{ server: server.name, serverTitle: view?.title ?? server.name, tool, toolTitle: detail?.title },
      // Exactly what is sent: who approves a call sees also what the block brings.
      args: { ...presetValues(block.inputs, ['fixed', 'default']), ...inputs },
      authority: view?.authority,
      block: { id, version, inputs, credential: selected },
    });
    return handleResult(endedRun.error);
  }

  function handleResult(error: unknown): StartResult {
    if (!(error instanceof ApiError)) return 'started';
    if (error.code === 'VERSION_CONFLICT') onReload();
    if (error.code === 'MCP_ARGUMENTS_INVALID') {
      form.showErrors(error.errors);
      return 'invalid';
    }
    if (error.code !== 'BLOCK_INCOMPLETE') return 'started';
    // The tool asks for more than when the form was made.
    onRecheck();
    const message = strings.tools.form.errors.required;
    const missingInputs = error.problem?.missing?.inputs ?? [];
    form.showErrors(
      missingInputs.map(({ name }) => ({
        path: `arguments[${JSON.stringify(name)}]`,
        code: 'required',
        message,
      })),
    );
    return 'invalid';
  }

  return { selected, mustChoose, start };
}
