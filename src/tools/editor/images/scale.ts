/** Scales PNG and JPEG images down: each new pixel is the mean of the pixels it stands for. */

type Raster = { width: number; height: number; data: Buffer };
type Kind = "png" | "jpeg";

/** Upper limits: `side` in pixels, `bytes` of the outcome. */
type Limits = { side: number; bytes: number };
export type ScaledImage = { kind: Kind; width: number; height: number; bytes: Uint8Array };

/**
 * Scales an image. Rejects when the data cannot be decoded. The decoders may also throw where no caller can catch it,
 * so call it on a thread that may die of that.
 */
export async function scaled(bytes: Buffer, kind: Kind, limits: Limits): Promise<ScaledImage> {
  const raster = await decoded(bytes, kind);
  for (let side = limits.side; ; side = Math.floor(side * 0.75)) {
    const small = shrunk(raster, Math.min(1, side / Math.max(raster.width, raster.height)));
    const { width, height } = small;
    const made = kind === "png" ? await png(small) : await jpeg(small);
    if (made.length <= limits.bytes) return { kind, width, height, bytes: made };
  }
}

async function decoded(bytes: Buffer, kind: Kind): Promise<Raster> {
  if (kind === "jpeg") {
    const { decode } = (await import("jpeg-js")).default;
    return decode(bytes, { maxResolutionInMP: 40, maxMemoryUsageInMB: 1024 });
  }
  const { PNG } = (await import("pngjs")).default;
  // The synchronous interface would inflate the content of an interlaced image without a limit.
  return await new Promise((resolve, reject) => {
    new PNG().parse(bytes, (error, { width, height, data }) =>
      error ? reject(error) : resolve({ width, height, data }),
    );
  });
}

async function png({ width, height, data }: Raster): Promise<Buffer> {
  const { PNG } = (await import("pngjs")).default;
  const image = new PNG({ width, height });
  image.data = data;
  return PNG.sync.write(image);
}

async function jpeg(raster: Raster): Promise<Buffer> {
  const { encode } = (await import("jpeg-js")).default;
  return encode(raster, 85).data;
}

function shrunk(raster: Raster, factor: number): Raster {
  if (factor === 1) return raster;
  const width = Math.max(1, Math.round(raster.width * factor));
  const height = Math.max(1, Math.round(raster.height * factor));
  const data = Buffer.alloc(width * height * 4);
  const edge = (index: number, small: number, large: number) => Math.floor((index * large) / small);
  for (let y = 0; y < height; y++) {
    const [top, bottom] = [edge(y, height, raster.height), edge(y + 1, height, raster.height)];
    for (let x = 0; x < width; x++) {
      const [left, right] = [edge(x, width, raster.width), edge(x + 1, width, raster.width)];
      mean(raster, { left, right, top, bottom }, data, (y * width + x) * 4);
    }
  }
  return { width, height, data };
}

type Box = { left: number; right: number; top: number; bottom: number };

/** Weights colours by opacity, so that transparent pixels do not bleed. */
function mean({ width, data }: Raster, { left, right, top, bottom }: Box, into: Buffer, at: number): void {
  let [red, green, blue, opacity] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const from = (y * width + x) * 4;
      const alpha = data[from + 3] ?? 0;
      red += (data[from] ?? 0) * alpha;
      green += (data[from + 1] ?? 0) * alpha;
      blue += (data[from + 2] ?? 0) * alpha;
      opacity += alpha;
    }
  }
  into[at] = red / (opacity || 1);
  into[at + 1] = green / (opacity || 1);
  into[at + 2] = blue / (opacity || 1);
  into[at + 3] = opacity / ((bottom - top) * (right - left));
}
