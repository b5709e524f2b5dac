import { spawn } from 'node:child_process';

/** Runs a program of node_modules; what it prints is messages. It does not outlive us. */
export async function runTool(file, args, { failure, ...options }) {
  const child = spawn(process.execPath, [file, ...args], { ...options, stdio: ['ignore', 2, 2] });
  const stop = () => child.kill();
  process.once('exit', stop);
  const code = await new Promise((done, fail) => child.once('error', fail).once('exit', done));
  process.removeListener('exit', stop);
  if (code !== 0) throw new Error(failure);
}
