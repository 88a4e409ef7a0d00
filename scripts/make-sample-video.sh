#!/bin/sh
# Makes the videos of this repository; run it only to change them (needs ffmpeg with libx264 and drawtext, Noto Sans).
#   apps/ad-service/sample/house-ad.mp4   10 s, 540x960: the video of the demo's house campaign, with an end card since 9 s
#   apps/ad-service/sample/house-ad.webp   its poster: the end card
#   e2e/fixtures/clip-2s.mp4               2 s, 180x320: for tests that do not depend on the length
#   e2e/fixtures/{hevc,mp4v,sound,lying}-2s.mp4   2 s: for ads without a picture, or in another shape
# The first two are H.264 + AAC with moov first, as required for every upload.
set -eu
cd "$(dirname "$0")/.."
mkdir -p apps/ad-service/sample e2e/fixtures

bold=${BOLD_FONT:-$(fc-match -f '%{file}' 'Noto Sans:bold')}
regular=${REGULAR_FONT:-$(fc-match -f '%{file}' 'Noto Sans:regular')}

# A mark of 204x204: a ring that is full at 8.8 s, around the seconds that are left; edges are softened over one pixel. It is the
# middle of the picture: on the offer, the poster has the play sign of the player inside the ring, so that it is empty there.
radius="hypot(X-102,Y-102)"
ring="clip(8.5-abs($radius-92)*1.6,0,1)"
# The angle from the top, clockwise, as a share of the circle.
angle="mod(atan2(X-102,102-Y)/(2*PI)+1,1)"
lit="if(lt($angle,T/8.8),235,60)"

# Three soft notes, a fifth and an octave apart, with slowly varying volume.
tone="0.16*sin(2*PI*220*t)*(0.7+0.3*sin(2*PI*0.2*t))+0.10*sin(2*PI*329.63*t)*(0.7+0.3*sin(2*PI*0.13*t+1))+0.06*sin(2*PI*440*t)*(0.6+0.4*sin(2*PI*0.31*t+2))"

centred="x=(w-text_w)/2:fontcolor=white"
# All that is to be read stays clear of the player's pill and buttons: below 16 %, above 68 %, and 10 % from the sides.
before="clip((8.7-t)/0.3,0,1)"
after="clip((t-8.6)/0.4,0,1)"
ffmpeg -hide_banner -loglevel warning -y \
  -f lavfi -i "gradients=s=900x1600:r=30:d=10:n=4:c0=0x1a1250:c1=0x4a2596:c2=0x963390:c3=0xdb5a72:x0=180:y0=320:x1=720:y1=1280:speed=0.008:seed=7,crop=540:960" \
  -f lavfi -i "color=white:s=204x204:r=30:d=10,format=yuva420p,geq=lum=255:cb=128:cr=128:a='$ring*$lit'" \
  -f lavfi -i "aevalsrc=exprs='$tone':d=10:s=48000" \
  -filter_complex "
    [0:v]vignette=PI/8[ground];
    [ground][1:v]overlay=x=168:y=378[marked];
    [marked]
      drawtext=fontfile=$bold:text='Intermission':fontsize=64:$centred:y=172:alpha='min(1,t/0.6)',
      drawtext=fontfile=$bold:text='%{eif\:max(1,ceil(10-t))\:d}':fontsize=72:x=(w-text_w)/2:y=(h-text_h)/2:fontcolor=white:alpha='clip((t-0.3)/0.6,0,1)*$before',
      drawtext=fontfile=$regular:text='The show goes on in a moment':fontsize=25:$centred:y=250:alpha='0.85*clip((t-0.2)/0.6,0,1)*$before',
      drawtext=fontfile=$bold:text='Your own ads':fontsize=34:$centred:y=586:alpha='clip((t-0.3)/0.6,0,1)*$before',
      drawtext=fontfile=$regular:text='on your own server':fontsize=25:$centred:y=622:alpha='0.85*clip((t-0.4)/0.6,0,1)*$before',
      drawtext=fontfile=$bold:text='Rewarded ads':fontsize=34:$centred:y=586:alpha='$after',
      drawtext=fontfile=$regular:text='for your own bot':fontsize=25:$centred:y=622:alpha='0.85*$after',
      format=yuv420p[picture];
    [2:a]afade=t=in:d=1,afade=t=out:st=8.8:d=1.2[sound]" \
  -map '[picture]' -map '[sound]' -t 10 \
  -c:v libx264 -profile:v main -preset veryslow -crf 22 -g 60 -c:a aac -b:a 64k -ac 1 \
  -movflags +faststart -map_metadata -1 apps/ad-service/sample/house-ad.mp4
ffmpeg -hide_banner -loglevel warning -y -ss 9.5 -i apps/ad-service/sample/house-ad.mp4 -frames:v 1 \
  -c:v libwebp -quality 85 -map_metadata -1 apps/ad-service/sample/house-ad.webp

ffmpeg -hide_banner -loglevel warning -y \
  -f lavfi -i "gradients=s=180x320:r=25:d=2:n=3:c0=0x1a1250:c1=0x963390:c2=0xdb5a72:x0=0:y0=0:x1=180:y1=320:speed=0.02:seed=7" \
  -f lavfi -i "aevalsrc=exprs='0.1*sin(2*PI*330*t)':d=2:s=44100" \
  -vf "drawtext=fontfile=$bold:text='%{eif\:max(1,ceil(2-t))\:d}':fontsize=72:$centred:y=124,format=yuv420p" \
  -t 2 -c:v libx264 -profile:v baseline -preset veryslow -crf 26 -g 25 -c:a aac -b:a 48k -ac 1 \
  -movflags +faststart -map_metadata -1 e2e/fixtures/clip-2s.mp4

# Videos of ads: three without a picture in Debian's Chromium, which plays only their sound, and one in another shape.
ad_video() {
  name=$1
  shift
  ffmpeg -hide_banner -loglevel warning -y -f lavfi -i "smptebars=s=160x90:r=10:d=2" -f lavfi -i "sine=f=220:d=2" \
    "$@" -pix_fmt yuv420p -c:a aac -b:a 16k -ac 1 -movflags +faststart -map_metadata -1 "e2e/fixtures/$name"
}
ad_video hevc-2s.mp4 -c:v libx265 -tag:v hvc1 -preset slow -x265-params log-level=error:info=0 -crf 40
ad_video mp4v-2s.mp4 -c:v mpeg4 -q:v 20
ad_video sound-2s.mp4 -vn
ad_video lying-2s.mp4 -s 320x180 -c:v libx264 -profile:v baseline -crf 30
