import { spawn } from 'node:child_process';

/** Runs a program of node_modules and prints its output to standard error. The program ends with this process. */
export async function runTool(file, args, { failure, ...options }) {
  const child = spawn(process.execPath, [file, ...args], { ...options, stdio: ['ignore', 2, 2] });
  const stop = () => child.kill();
  process.once('exit', stop);
  const code = await new Promise((done, fail) => child.once('error', fail).once('exit', done));
  process.removeListener('exit', stop);
  if (code !== 0) throw new Error(failure);
}
