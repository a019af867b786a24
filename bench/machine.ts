/** What a figure depends on: the machine, and how dear its `fdatasync` is. Linux only, as the figures are. */
import { Samples } from "./samples.ts";

/** Facts to print above the table. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMiB: number;
  readonly deno: string;
  readonly v8: string;
  /** 4 KiB write and sync, p50 and p99 in milliseconds. */
  readonly syncMs: { readonly p50: number; readonly p99: number };
  /** Load average of the last minute when the run began: other work on the machine makes every figure worse. */
  readonly load: number;
}

/** Looks at the machine. */
export async function readMachine(folder: string): Promise<Machine> {
  const cpuinfo = await Deno.readTextFile("/proc/cpuinfo");
  const { p50, p99 } = await timeSync(`${folder}/sync`);
  return {
    cpu: /^model name\s*:\s*(.+)$/m.exec(cpuinfo)?.[1] ?? "unknown",
    cores: navigator.hardwareConcurrency,
    memoryMiB: Math.round(Deno.systemMemoryInfo().total / 2 ** 20),
    deno: Deno.version.deno,
    v8: Deno.version.v8,
    syncMs: { p50, p99 },
    load: Deno.loadavg()[0] ?? NaN,
  };
}

async function timeSync(path: string): Promise<Samples> {
  using file = await Deno.open(path, { create: true, write: true });
  const block = new Uint8Array(4_096);
  const samples = new Samples();
  for (let round = 0; round < 200; round++) {
    const began = performance.now();
    file.writeSync(block);
    file.syncDataSync();
    samples.add(performance.now() - began);
  }
  return samples;
}
